package io.escapement.ledger;

/** Operators' definitions and limits. */
final class Operate {

  private final Statements statements;
  private final String defineKind = Statements.load("define_kind");
  private final String setLimits = Statements.load("set_limits");
  private final String setTenant = Statements.load("set_tenant");

  Operate(Statements statements) {
    this.statements = statements;
  }

  void defineKind(KindDefinition kind, String reason) {
    statements.run(
        "define_kind",
        defineKind,
        p ->
            p.text(kind.name())
                .text(kind.queue())
                .text(kind.channel())
                .integer(kind.maxAttempts())
                .number(kind.lease().toMillis())
                .number(kind.timeout().toMillis())
                .number(kind.backoffBase().toMillis())
                .number(kind.backoffCap().toMillis())
                .decimal(kind.backoffJitter())
                .text(kind.exhaustion().name())
                .text(reason));
  }

  void setLimits(long maxTasks, long maxBytes, String reason) {
    statements.run("set_limits", setLimits, p -> p.number(maxTasks).number(maxBytes).text(reason));
  }

  void setTenant(String tenant, long maxTasks, long maxBytes, int weight, String reason) {
    statements.run(
        "set_tenant",
        setTenant,
        p -> p.text(tenant).number(maxTasks).number(maxBytes).integer(weight).text(reason));
  }
}
