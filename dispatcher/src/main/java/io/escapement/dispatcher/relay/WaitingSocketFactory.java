package io.escapement.dispatcher.relay;

import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.net.SocketTimeoutException;
import javax.net.SocketFactory;

/**
 * Sockets on which "is there something to read?" waits a while for the answer yes.
 *
 * <p>Debezium asks the replication connection whether there is something, and sleeps for its poll
 * interval after the fifth no. Asking often is what an idle stream costs, asking seldom is what
 * latency is made of. Where the question itself waits in the kernel, it is asked five times a
 * second while nothing comes, and answered at once when something does.
 *
 * <p>The driver connects its sockets itself; whoever asks for connected ones gets plain ones.
 *
 * <p>It helps on plain connections. TLS asks its own buffers, not the socket: there the poll
 * interval is all. Thread rule: that of sockets, one reader. Public because the driver makes one by
 * its name ({@code socketFactory}).
 */
public final class WaitingSocketFactory extends SocketFactory {

  /** Whoever wants to write while the reader waits may have to wait as long. */
  private static final int WAIT_MILLIS = 200;

  /** For the driver. */
  public WaitingSocketFactory() {}

  @Override
  public Socket createSocket() {
    return new WaitingSocket();
  }

  @Override
  public Socket createSocket(String host, int port) throws IOException {
    return new Socket(host, port);
  }

  @Override
  public Socket createSocket(String host, int port, InetAddress localHost, int localPort)
      throws IOException {
    return new Socket(host, port, localHost, localPort);
  }

  @Override
  public Socket createSocket(InetAddress host, int port) throws IOException {
    return new Socket(host, port);
  }

  @Override
  public Socket createSocket(InetAddress address, int port, InetAddress localAddress, int localPort)
      throws IOException {
    return new Socket(address, port, localAddress, localPort);
  }

  private static final class WaitingSocket extends Socket {
    @Override
    public InputStream getInputStream() throws IOException {
      return new WaitingStream(this, super.getInputStream());
    }
  }

  private static final class WaitingStream extends InputStream {
    private final Socket socket;
    private final InputStream in;
    private final byte[] one = new byte[1];
    private boolean ahead;
    private boolean ended;

    WaitingStream(Socket socket, InputStream in) {
      this.socket = socket;
      this.in = in;
    }

    @Override
    public int available() throws IOException {
      int there = in.available() + (ahead ? 1 : 0);
      return there > 0 ? there : await();
    }

    private int await() throws IOException {
      if (ended) {
        return 1;
      }
      int before = socket.getSoTimeout();
      socket.setSoTimeout(WAIT_MILLIS);
      try {
        if (in.read(one, 0, 1) < 0) {
          // Something to find out by reading.
          ended = true;
          return 1;
        }
        ahead = true;
        return 1 + in.available();
      } catch (SocketTimeoutException e) {
        return 0;
      } finally {
        socket.setSoTimeout(before);
      }
    }

    @Override
    public int read() throws IOException {
      if (ahead) {
        ahead = false;
        return one[0] & 0xFF;
      }
      return ended ? -1 : in.read();
    }

    @Override
    public int read(byte[] bytes, int offset, int length) throws IOException {
      if (length == 0) {
        return 0;
      }
      if (ahead) {
        ahead = false;
        bytes[offset] = one[0];
        int more = length > 1 && in.available() > 0 ? in.read(bytes, offset + 1, length - 1) : 0;
        return 1 + Math.max(0, more);
      }
      return ended ? -1 : in.read(bytes, offset, length);
    }

    @Override
    public void close() throws IOException {
      in.close();
    }
  }
}
