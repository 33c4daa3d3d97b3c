package io.escapement.dispatcher;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.nio.charset.StandardCharsets;

/**
 * The worked example of docs/channels.md: mail over SMTP (RFC 5321). Its contract is OPAQUE, for
 * SMTP promises nothing about repetition.
 */
final class SmtpChannel implements Channel {

  private final InetSocketAddress server;
  private final String sender;

  SmtpChannel(InetSocketAddress server, String sender) {
    this.server = server;
    this.sender = sender;
  }

  @Override
  public String name() {
    return "smtp";
  }

  @Override
  public SendResult send(Call call) throws IOException {
    int timeoutMillis = (int) call.timeout().toMillis();
    try (Socket socket = new Socket()) {
      boolean dotSent = false;
      try {
        socket.connect(server, timeoutMillis / 2);
        socket.setSoTimeout(timeoutMillis / 2);
        BufferedReader in =
            new BufferedReader(
                new InputStreamReader(socket.getInputStream(), StandardCharsets.US_ASCII));
        OutputStream out = socket.getOutputStream();
        String reply = reply(in);
        for (String command :
            new String[] {
              "EHLO localhost",
              "MAIL FROM:<" + sender + ">",
              "RCPT TO:<" + call.address() + ">",
              "DATA"
            }) {
          if (!isGood(reply)) {
            return refusal(reply);
          }
          out.write((command + "\r\n").getBytes(StandardCharsets.US_ASCII));
          reply = reply(in);
        }
        if (!reply.startsWith("354")) {
          return refusal(reply);
        }
        String body = new String(call.task().data(), StandardCharsets.UTF_8);
        out.write(stuffed(body).getBytes(StandardCharsets.UTF_8));
        dotSent = true;
        out.write("\r\n.\r\n".getBytes(StandardCharsets.US_ASCII));
        // With this reply the server takes the responsibility, section 4.2.5.
        reply = reply(in);
        return isGood(reply) ? new SendResult.Accepted(reply) : refusal(reply);
      } catch (IOException e) {
        if (!dotSent) {
          // Without the final dot nothing was handed over, section 4.1.1.4.
          return new SendResult.Refused("before the final dot: " + e, null);
        }
        // After it the mail may be in the server's queue, section 4.5.3.2.6.
        return e instanceof SocketTimeoutException
            ? new SendResult.Timeout("no reply after the final dot")
            : new SendResult.IoError("after the final dot: " + e);
      }
    }
  }

  /** 4yz may be tried again, 5yz not, section 4.2.1; neither was accepted. */
  private static SendResult refusal(String reply) {
    return reply.startsWith("5")
        ? new SendResult.Rejected(reply)
        : new SendResult.Refused(reply, null);
  }

  private static boolean isGood(String reply) {
    return reply.startsWith("2") || reply.startsWith("3");
  }

  /** The last line of a reply, section 4.2.1. */
  private static String reply(BufferedReader in) throws IOException {
    String line = in.readLine();
    while (line != null && line.length() > 3 && line.charAt(3) == '-') {
      line = in.readLine();
    }
    if (line == null) {
      throw new IOException("the server closed the connection");
    }
    return line;
  }

  /** A line that begins with a dot gets another one, section 4.5.2. */
  private static String stuffed(String body) {
    return body.replace("\r\n", "\n").replaceAll("(?m)^\\.", "..").replace("\n", "\r\n");
  }
}
