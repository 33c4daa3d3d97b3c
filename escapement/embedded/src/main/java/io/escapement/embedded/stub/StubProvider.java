package io.escapement.embedded.stub;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.NetworkInterface;
import java.net.UnknownHostException;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.jspecify.annotations.Nullable;

/**
 * A stub of a provider that takes messages over HTTP: each reference gets what its script says
 * (accepted and never answered, dropped, refused, …), and what it came to is counted. {@code
 * docs/stub-provider.md} has its paths and steps.
 *
 * <p>Cost: some 250 bytes a reference, at most {@value #MAX_REFERENCES}, and nothing on disk; a
 * virtual thread a call while it is handled. Bodies have at most 10,000,000 bytes. Thread rule:
 * start and close from any thread; any number of callers. Failure: {@link StubStartException}. What
 * a script can't ask for is what HTTP forbids: the JDK's server writes no garbage.
 */
public final class StubProvider implements AutoCloseable {

  /** So many references are known; one more is answered by 507. */
  public static final int MAX_REFERENCES = 1_000_000;

  private static final int MAX_PORT = 65_535;
  private static final int BACKLOG = 1_024;

  /**
   * The JDK's server closes connections that idle for 30 seconds, or beyond 200 of them: a caller
   * that sends just then would see a drop that no script asked for. And it waits for
   * acknowledgements between head and body.
   */
  private static final Map<String, String> SERVER_PROPERTIES =
      Map.of(
          "sun.net.httpserver.nodelay", "true",
          "sun.net.httpserver.idleInterval", "3600",
          "sun.net.httpserver.maxIdleConnections", "20000");

  private final HttpServer server;
  private final String host;
  private final ExecutorService handlers = Executors.newVirtualThreadPerTaskExecutor();
  private final Hangs hangs = new Hangs(Hangs.LIMIT);
  private final MessagePaths messages;
  private final ControlPaths control;

  private StubProvider(
      HttpServer server, String host, References references, @Nullable Signature signature) {
    this.server = server;
    this.host = host;
    this.messages = new MessagePaths(references, hangs, signature);
    this.control = new ControlPaths(references, messages, hangs);
  }

  /**
   * Where to listen, and whether calls must be signed.
   *
   * @param host name or address of this machine; 127.0.0.1 keeps others out
   * @param port 0 to 65535; 0 picks a free one
   * @param signingSecret {@code whsec_} and base64, by Standard Webhooks; null: nothing is checked
   */
  public record Config(String host, int port, @Nullable String signingSecret) {

    /** Where it listens if nothing else is said. */
    public static final String LOOPBACK = "127.0.0.1";

    /** On a free loopback port, without signatures. */
    public static Config ephemeral() {
      return new Config(LOOPBACK, 0, null);
    }

    @Override
    public String toString() {
      String signed = signingSecret == null ? "" : ", signed";
      return "Config[" + host + ":" + port + signed + "]";
    }
  }

  /**
   * Starts one; it answers when this returns.
   *
   * @throws StubStartException if the port is taken, or an argument can't be used
   */
  public static StubProvider start(Config config) {
    return start(config, MAX_REFERENCES);
  }

  static StubProvider start(Config config, int maxReferences) {
    if (config.port() < 0 || config.port() > MAX_PORT) {
      throw new StubStartException(
          "--port is " + config.port() + "; it is 0, for any free one, to " + MAX_PORT, true, null);
    }
    Signature signature =
        config.signingSecret() == null ? null : Signature.of(config.signingSecret());
    SERVER_PROPERTIES.forEach(
        (name, value) -> {
          if (System.getProperty(name) == null) {
            System.setProperty(name, value);
          }
        });
    StubProvider stub =
        new StubProvider(bind(config), config.host(), new References(maxReferences), signature);
    stub.server.setExecutor(stub.handlers);
    stub.server.createContext("/", stub::handle);
    stub.server.start();
    return stub;
  }

  /** The port that it listens on. */
  public int port() {
    return server.getAddress().getPort();
  }

  /** Where its paths begin, without a slash at the end. */
  public String url() {
    return "http://" + authority(host, port());
  }

  /** Says where it listens: what whoever starts it as a process waits for. */
  public String greeting() {
    return "stub-provider listening on " + url();
  }

  /** Closes every connection at once, also those that hang. */
  @Override
  public void close() {
    server.stop(0);
    hangs.closeAll();
    messages.close();
    handlers.shutdownNow();
  }

  private void handle(HttpExchange exchange) {
    try {
      route(exchange);
    } catch (IOException gone) {
      exchange.close();
    }
  }

  private void route(HttpExchange exchange) throws IOException {
    try {
      if (Paths.isUnder(exchange, MessagePaths.PATH)) {
        messages.handle(exchange);
      } else if (Paths.isUnder(exchange, ControlPaths.PATH)) {
        control.handle(exchange);
      } else {
        throw new RequestException(404, "there are /messages and /stub");
      }
    } catch (RequestException e) {
      Answers.line(exchange, e.status(), e.line());
    }
  }

  private static HttpServer bind(Config config) {
    try {
      InetAddress address = InetAddress.getByName(config.host());
      if (!address.isAnyLocalAddress() && NetworkInterface.getByInetAddress(address) == null) {
        throw new StubStartException(
            "--host: " + config.host() + " is no address of this machine", true, null);
      }
      return HttpServer.create(new InetSocketAddress(address, config.port()), BACKLOG);
    } catch (UnknownHostException e) {
      throw new StubStartException(
          "--host: " + config.host() + " can't be resolved; name an address of this machine",
          true,
          e);
    } catch (IOException e) {
      throw new StubStartException(
          "--port: can't listen on "
              + authority(config.host(), config.port())
              + ": "
              + e.getMessage()
              + "; choose another with --port, 0 for any free one",
          false,
          e);
    }
  }

  private static String authority(String host, int port) {
    return (host.indexOf(':') < 0 ? host : "[" + host + "]") + ":" + port;
  }
}
