package io.escapement.dispatcher.http;

import io.escapement.dispatcher.Call;
import io.escapement.dispatcher.Channel;
import io.escapement.dispatcher.QueryResult;
import io.escapement.dispatcher.SendResult;
import java.io.IOException;
import java.net.ConnectException;
import java.net.URI;
import java.net.UnknownHostException;
import java.net.http.HttpClient;
import java.net.http.HttpConnectTimeoutException;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpTimeoutException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Flow;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicReference;
import javax.net.ssl.SSLHandshakeException;
import org.jspecify.annotations.Nullable;

/**
 * Calls an HTTP endpoint with the event's data as the body.
 *
 * <p>What is known: an answer's status says what the configuration has it say; any other status
 * that is not 2xx, redirects (never followed) included, is {@code UNCLEAR}. Surely not accepted are
 * calls that never had a connection: the name unknown, the connection refused or not made in time,
 * the TLS handshake failed. Whatever breaks later is unknown, for the request may have been
 * written. A status that has come counts though the rest of the answer does not.
 *
 * <p>HTTP/1.1 only, without proxies; nothing is sent twice by the client itself. Thread rule: any
 * thread. Cost: a connection for each call at a time, kept for the next.
 */
public final class HttpChannel implements Channel {

  private static final int DETAIL_CHARACTERS = 500;
  private static final String DEFAULT_CONTENT_TYPE = "application/octet-stream";

  private final HttpChannelConfig config;

  /**
   * By how long a connection may take to be made; as many as there are time-outs of the channel.
   */
  private final Map<Duration, HttpClient> clients = new ConcurrentHashMap<>();

  public HttpChannel(HttpChannelConfig config) {
    this.config = config;
    if (config.goesToAddresses() && !config.allowPrivate()) {
      GuardedResolverProvider.requireInstalled();
    }
  }

  @Override
  public String name() {
    return config.name();
  }

  @Override
  public boolean canQuery() {
    return config.queryUrl() != null;
  }

  @Override
  public String destination(Call call) {
    if (!config.url().isWholly("address")) {
      return "";
    }
    try {
      URI uri = uri(config.url(), call);
      String port = uri.getPort() < 0 ? "" : ":" + uri.getPort();
      return uri.getScheme() + "://" + uri.getHost() + port;
    } catch (NoSuchAddressException e) {
      return "nowhere";
    }
  }

  @Override
  public SendResult send(Call call) throws InterruptedException {
    Sent request;
    URI uri;
    try {
      uri = uri(config.url(), call);
      request = request(uri, call);
    } catch (NoSuchAddressException e) {
      return new SendResult.Rejected(String.valueOf(e.getMessage()));
    } catch (IllegalArgumentException e) {
      return new SendResult.Rejected("no request can be made of it: " + e.getClass().getName());
    }
    try {
      return meaning(exchange(config.url(), request, call.timeout()));
    } catch (AddressGuard.ForbiddenAddressException e) {
      return new SendResult.Rejected(String.valueOf(e.getMessage()));
    } catch (NeverSentException e) {
      return new SendResult.Refused(String.valueOf(e.getMessage()), null);
    } catch (HttpTimeoutException e) {
      return new SendResult.Timeout(
          "no answer from " + uri.getHost() + " within " + call.timeout());
    } catch (IOException e) {
      return new SendResult.IoError(uri.getHost() + ": " + e);
    }
  }

  @Override
  public QueryResult query(Call call) throws InterruptedException {
    if (config.queryUrl() == null) {
      return new QueryResult.Failed("channel " + name() + " has no query.url");
    }
    try {
      HttpRequest request = common(uri(config.queryUrl(), call), call).GET().build();
      Answer answer =
          exchange(config.queryUrl(), new Sent(request, new Written(false)), call.timeout());
      if (config.found().contains(answer.status())) {
        return new QueryResult.Found(messageId(answer));
      }
      if (config.notFound().contains(answer.status())) {
        return new QueryResult.NotFound();
      }
      return new QueryResult.Failed(answer.describe());
    } catch (NoSuchAddressException | IOException e) {
      return new QueryResult.Failed(String.valueOf(e.getMessage()));
    }
  }

  @Override
  public void close() {
    clients.values().forEach(HttpClient::shutdownNow);
  }

  private SendResult meaning(Answer answer) {
    int status = answer.status();
    if (config.replay().contains(status)) {
      return new SendResult.Replayed(messageId(answer));
    }
    if (config.unauthorized().contains(status)) {
      return new SendResult.Unauthorized(
          answer.describe(), config.refused().contains(status), RetryAfter.of(answer.headers()));
    }
    if (config.refused().contains(status)) {
      return new SendResult.Refused(answer.describe(), RetryAfter.of(answer.headers()));
    }
    if (config.rejected().contains(status)) {
      return new SendResult.Rejected(answer.describe());
    }
    return status / 100 == 2
        ? new SendResult.Accepted(messageId(answer))
        : new SendResult.Unclear(answer.describe());
  }

  private @Nullable String messageId(Answer answer) {
    String header = config.messageIdHeader();
    return header == null ? null : answer.headers().firstValue(header).orElse(null);
  }

  private Sent request(URI uri, Call call) {
    byte[] body = call.task().data();
    HttpRequest.Builder request = common(uri, call);
    request.header("Content-Type", contentType(call));
    if (config.signingSecret() != null) {
      Signature.of(config.signingSecret(), call.task(), body).forEach(request::header);
    }
    Written written = new Written(body.length > 0);
    request.method(config.method(), written.watching(HttpRequest.BodyPublishers.ofByteArray(body)));
    return new Sent(request.build(), written);
  }

  private HttpRequest.Builder common(URI uri, Call call) {
    HttpRequest.Builder request = HttpRequest.newBuilder(uri);
    config.headers().forEach((name, value) -> request.header(name, encoded(value.plain(call))));
    if (config.keyHeader() != null) {
      request.header(config.keyHeader(), call.task().idempotencyKey());
    }
    return request;
  }

  /**
   * What a request says must not break a header: all but printable ASCII is encoded, as in the HTTP
   * binding of CloudEvents 1.0, section 3.1.3.2.
   */
  private static String encoded(String value) {
    StringBuilder encoded = new StringBuilder();
    for (byte one : value.getBytes(StandardCharsets.UTF_8)) {
      if (one >= ' ' && one <= '~') {
        encoded.append((char) one);
      } else {
        encoded.append('%').append(String.format(Locale.ROOT, "%02X", one));
      }
    }
    return encoded.toString();
  }

  private String contentType(Call call) {
    String type = config.contentType();
    type = type == null ? call.task().dataContentType() : type;
    return type == null ? DEFAULT_CONTENT_TYPE : encoded(type);
  }

  /** The whole exchange within a time; its host is looked at before and watched meanwhile. */
  private Answer exchange(Template url, Sent request, Duration timeout)
      throws IOException, InterruptedException {
    long end = System.nanoTime() + timeout.toNanos();
    String host = request.request().uri().getHost();
    boolean guarded = url.isWholly("address") && !config.allowPrivate();
    AddressGuard.Watch watch;
    try {
      watch = (guarded ? AddressGuard.PUBLIC_ONLY : AddressGuard.NONE).watch(host);
    } catch (UnknownHostException e) {
      throw new NeverSentException("there is no host " + host, e);
    }
    try {
      if (Thread.interrupted()) {
        throw new InterruptedException();
      }
      Duration left = Duration.ofNanos(end - System.nanoTime());
      if (!left.isPositive()) {
        throw new NeverSentException("the name " + host + " was not resolved in time", null);
      }
      return exchangeWatched(request, client(timeout), left);
    } finally {
      watch.close();
    }
  }

  private static URI uri(Template template, Call call) throws NoSuchAddressException {
    try {
      return template.isWholly("address")
          ? Urls.of(template.plain(call))
          : Urls.of(template.url(call));
    } catch (IllegalArgumentException e) {
      throw new NoSuchAddressException(String.valueOf(e.getMessage()));
    }
  }

  private Answer exchangeWatched(Sent request, HttpClient client, Duration timeout)
      throws IOException, InterruptedException {
    AtomicReference<HttpResponse.@Nullable ResponseInfo> head = new AtomicReference<>();
    CompletableFuture<HttpResponse<byte[]>> answer =
        client.sendAsync(
            request.request(),
            info -> {
              head.set(info);
              return new FirstBytes(config.responseLimit());
            });
    try {
      HttpResponse<byte[]> whole = answer.get(timeout.toNanos(), TimeUnit.NANOSECONDS);
      return new Answer(whole.statusCode(), whole.headers(), whole.body());
    } catch (TimeoutException e) {
      answer.cancel(true);
      return without(head.get(), new HttpTimeoutException("no answer in time"));
    } catch (InterruptedException e) {
      answer.cancel(true);
      throw e;
    } catch (ExecutionException e) {
      return without(head.get(), cause(e, request.written()));
    }
  }

  /** An answer whose body did not come; its status says what it says. */
  private static Answer without(HttpResponse.@Nullable ResponseInfo head, IOException why)
      throws IOException {
    if (head == null) {
      throw why;
    }
    return new Answer(head.statusCode(), head.headers(), new byte[0]);
  }

  /** Sorts failures: those before anything can have been written, and the others. */
  private static IOException cause(ExecutionException failed, Written written) {
    Throwable cause = failed.getCause();
    for (Throwable one = cause; one != null; one = one.getCause()) {
      boolean noConnection =
          one instanceof HttpConnectTimeoutException
              || one instanceof ConnectException
              || one instanceof UnknownHostException;
      // An alert may also come on a connection that has long carried the request.
      boolean noHandshake = one instanceof SSLHandshakeException && written.surelyNot();
      if (noConnection || noHandshake) {
        return new NeverSentException("no connection: " + one, one);
      }
    }
    return cause instanceof IOException io ? io : new IOException(String.valueOf(cause), cause);
  }

  private HttpClient client(Duration timeout) {
    Duration half = timeout.dividedBy(2);
    Duration connect = half.compareTo(config.connectTimeout()) < 0 ? half : config.connectTimeout();
    return clients.computeIfAbsent(
        connect,
        limit ->
            HttpClient.newBuilder()
                .version(HttpClient.Version.HTTP_1_1)
                .followRedirects(HttpClient.Redirect.NEVER)
                .proxy(HttpClient.Builder.NO_PROXY)
                .connectTimeout(limit)
                .build());
  }

  /** A request, and whether it has been written. */
  private record Sent(HttpRequest request, Written written) {}

  /** Whether a request's body has been asked for, so that some of it may have been written. */
  private static final class Written {
    private final boolean hasBody;
    private volatile boolean asked;

    Written(boolean hasBody) {
      this.hasBody = hasBody;
    }

    boolean surelyNot() {
      return hasBody && !asked;
    }

    HttpRequest.BodyPublisher watching(HttpRequest.BodyPublisher body) {
      return new HttpRequest.BodyPublisher() {
        @Override
        public long contentLength() {
          return body.contentLength();
        }

        @Override
        public void subscribe(Flow.Subscriber<? super ByteBuffer> subscriber) {
          asked = true;
          body.subscribe(subscriber);
        }
      };
    }
  }

  private record Answer(int status, java.net.http.HttpHeaders headers, byte[] body) {
    String describe() {
      String said = new String(body, StandardCharsets.UTF_8).strip();
      return "HTTP "
          + status
          + (said.isEmpty()
              ? ""
              : ": " + said.substring(0, Math.min(DETAIL_CHARACTERS, said.length())));
    }
  }

  /** Surely nothing of the request was written. */
  private static final class NeverSentException extends IOException {
    private static final long serialVersionUID = 1;

    NeverSentException(String message, @Nullable Throwable cause) {
      super(message, cause);
    }
  }

  private static final class NoSuchAddressException extends Exception {
    private static final long serialVersionUID = 1;

    NoSuchAddressException(String message) {
      super(message);
    }
  }
}
