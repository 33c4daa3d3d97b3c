package io.escapement.dispatcher.http;

import java.io.ByteArrayOutputStream;
import java.net.http.HttpResponse;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Flow;
import org.jspecify.annotations.Nullable;

/** The first bytes of a body; the rest is not read, and the connection is given up. */
final class FirstBytes implements HttpResponse.BodySubscriber<byte[]> {

  private final int limit;
  private final ByteArrayOutputStream bytes = new ByteArrayOutputStream();
  private final CompletableFuture<byte[]> body = new CompletableFuture<>();
  private Flow.@Nullable Subscription subscription;

  FirstBytes(int limit) {
    this.limit = limit;
  }

  @Override
  public CompletionStage<byte[]> getBody() {
    return body;
  }

  @Override
  public void onSubscribe(Flow.Subscription its) {
    subscription = its;
    its.request(1);
  }

  @Override
  public void onNext(List<ByteBuffer> items) {
    for (ByteBuffer item : items) {
      byte[] some = new byte[Math.min(item.remaining(), limit - bytes.size())];
      item.get(some);
      bytes.writeBytes(some);
    }
    if (subscription != null && bytes.size() < limit) {
      subscription.request(1);
    } else if (subscription != null) {
      subscription.cancel();
      onComplete();
    }
  }

  @Override
  public void onError(Throwable failure) {
    body.completeExceptionally(failure);
  }

  @Override
  public void onComplete() {
    body.complete(bytes.toByteArray());
  }
}
