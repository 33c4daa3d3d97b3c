package io.escapement.demo;

import io.escapement.embedded.EmbeddedStack;
import io.escapement.ledger.KindDefinition;
import io.escapement.ledger.Ledger;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;

/** What the demo's events need in the database: kinds, a table of a handler's own, budgets. */
public final class DemoWorld {

  /** A table of bookings that one handler closes; in the distribution it is examples/demo.sql. */
  private static final String TABLES = "/io/escapement/demo/demo.sql";

  private static final String REASON = "the demo's";

  private static final long LEDGER_TASKS = 5_000;
  private static final long LEDGER_BYTES = 64L << 20;
  private static final long ROOMY_TASKS = 2_000;
  private static final long TIGHT_TASKS = 40;
  private static final long TENANT_BYTES = 16L << 20;

  private static final List<String> ROOMY = List.of("north", "south", "east");
  private static final String TIGHT = "west";

  private DemoWorld() {}

  /** The kinds, and what their handlers write to. */
  public static void define(EmbeddedStack stack, Ledger operator) {
    stack.execute(tables());
    // Soon again, so that the failures that the demo makes on purpose are seen to be mended.
    operator.defineKind(
        KindDefinition.local(ReminderHandler.KIND)
            .withBackoff(Duration.ofMillis(200), Duration.ofSeconds(2), 0.2),
        REASON);
    operator.defineKind(KindDefinition.local(BookingHandler.KIND), REASON);
    operator.defineKind(KindDefinition.local(InvoiceHandler.KIND), REASON);
    DemoProvider.define(operator, REASON);
  }

  /** Budgets so small that one tenant's requests can't all be promised. */
  public static void limit(Ledger operator) {
    operator.setLimits(LEDGER_TASKS, LEDGER_BYTES, REASON);
    for (String tenant : ROOMY) {
      operator.setTenant(tenant, ROOMY_TASKS, TENANT_BYTES, 1, REASON);
    }
    operator.setTenant(TIGHT, TIGHT_TASKS, TENANT_BYTES, 1, REASON);
  }

  private static String tables() {
    try (InputStream file = DemoWorld.class.getResourceAsStream(TABLES)) {
      if (file == null) {
        throw new IllegalStateException(TABLES + " is not on the class path");
      }
      return new String(file.readAllBytes(), StandardCharsets.UTF_8);
    } catch (IOException e) {
      throw new UncheckedIOException(TABLES, e);
    }
  }
}
