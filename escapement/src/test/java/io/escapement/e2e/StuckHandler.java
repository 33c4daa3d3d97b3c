package io.escapement.e2e;

import io.escapement.dispatcher.EffectHandler;
import io.escapement.dispatcher.HandlerResult;
import io.escapement.dispatcher.Task;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.CountDownLatch;

/**
 * A handler whose first attempt never ends: it leaves a file, named by the event's subject, and
 * waits until its process is killed. Later attempts are done at once.
 */
public final class StuckHandler implements EffectHandler {

  static final String KIND = "test.stuck";

  @Override
  public String kind() {
    return KIND;
  }

  @Override
  public HandlerResult handle(Task task) throws Exception {
    if (task.attempt() == 1) {
      Files.createFile(Path.of(String.valueOf(task.subject())));
      new CountDownLatch(1).await();
    }
    return HandlerResult.done(("attempt " + task.attempt()).getBytes(StandardCharsets.UTF_8));
  }
}
