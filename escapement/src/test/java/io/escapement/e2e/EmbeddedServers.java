package io.escapement.e2e;

import io.escapement.e2e.TestServers.Addresses;
import io.escapement.embedded.EmbeddedDatabase;
import io.escapement.embedded.EmbeddedStack;
import java.nio.file.Path;

/** Servers in this process and beside it, without Docker. */
final class EmbeddedServers {

  private static final String NAME = "escapement";

  private EmbeddedServers() {}

  static TestServers start(Path scratch) {
    EmbeddedStack stack =
        EmbeddedStack.start(new EmbeddedStack.Config(scratch.resolve("stack"), NAME, 0, 0, false));
    String url = stack.jdbcUrl();
    return new TestServers(
        NAME,
        new Addresses(
            url.substring(0, url.length() - NAME.length()),
            "",
            EmbeddedDatabase.USER,
            "",
            stack.bootstrapServers()),
        stack);
  }
}
