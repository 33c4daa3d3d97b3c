package io.escapement.ledger;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Draws {@code docs/state-machine.md} from the rows of the rule table. */
final class StateMachineDocs {

  /** A row of the rule table. */
  record Rule(
      Contract contract,
      String observation,
      boolean past,
      boolean triesLeft,
      boolean cancel,
      String exhaustion,
      String nextState,
      String nextDue,
      boolean effect) {

    private boolean parks() {
      return nextState.equals("UNKNOWN") && nextDue.equals("NEVER");
    }

    private String next() {
      return parks()
          ? "parked"
          : switch (nextDue) {
            case "NOW" -> nextState + ", at once";
            case "BACKOFF" -> nextState + ", backoff";
            case "SETTLE" -> nextState + ", backoff, not before settle";
            default -> nextState + (effect ? " and its effect" : "");
          };
    }
  }

  private static final Set<String> OF_WAITING =
      Set.of("PREFERENCE_OFF", "TTL_EXPIRED", "KEY_EXPIRED");

  /** In the order in which they are told of. */
  private static final List<String> OBSERVATIONS =
      List.of(
          "COMPLETED",
          "FAILED",
          "POISONED",
          "ACCEPTED",
          "ACCEPTED_REPLAY",
          "REFUSED",
          "REJECTED",
          "TIMEOUT",
          "IO_ERROR",
          "UNCLEAR",
          "QUERY_FOUND",
          "QUERY_NOT_FOUND",
          "QUERY_FAILED",
          "LEASE_EXPIRED",
          "RELEASED",
          "PREFERENCE_OFF",
          "TTL_EXPIRED",
          "KEY_EXPIRED",
          "MANUAL_DONE",
          "MANUAL_FAILED",
          "MANUAL_RETRY");

  private static final String HEAD =
      """
      # The state machine

      Drawn from the rows of `escapement.rule`, which `settle` joins: what is here is what runs. A test compares them;
      to write this file anew:

          mvn -pl escapement/embedded,ledger test -Dtest=StateMachineDocsPostgresTest \\
            -Dsurefire.failIfNoSpecifiedTests=false -Dstate-machine.docs.write=true

      `PARKED` is `UNKNOWN` without a due time: nothing happens until a person looks. What has ended (`DONE`, `FAILED`,
      `CANCELLED`, `SUPPRESSED`) never changes again. Arrows with a name in lower case are not rules: `claim`, and what
      operators do.

      """;

  private static final List<String> NOT_BY_RULE =
      List.of(
          "[*] --> SCHEDULED : admit",
          "SCHEDULED --> CLAIMED : claim",
          "UNKNOWN --> CLAIMED : claim",
          "SCHEDULED --> QUARANTINED : quarantine",
          "UNKNOWN --> QUARANTINED : quarantine",
          "QUARANTINED --> SCHEDULED : redrive, nothing at large",
          "QUARANTINED --> UNKNOWN : redrive",
          "QUARANTINED --> CANCELLED : cancel, nothing at large",
          "QUARANTINED --> PARKED : cancel",
          "SCHEDULED --> CANCELLED : cancel",
          "UNKNOWN --> PARKED : cancel, if it can't be asked for");

  private StateMachineDocs() {}

  static String render(List<Rule> rules) {
    return HEAD
        + "```mermaid\n"
        + diagram(rules)
        + "```\n"
        + Stream.of(Contract.values()).map(c -> section(c, rules)).collect(Collectors.joining());
  }

  private static String diagram(List<Rule> rules) {
    Map<String, Set<String>> edges = new TreeMap<>();
    Set<String> unasked = new HashSet<>();
    for (String observation : OBSERVATIONS) {
      for (Rule rule : rules) {
        if (rule.observation.equals(observation)) {
          String to = rule.parks() ? "PARKED" : rule.nextState;
          String edge = from(rule) + " --> " + to;
          edges.computeIfAbsent(edge, e -> new LinkedHashSet<>()).add(observation);
          if (!rule.cancel) {
            unasked.add(edge);
          }
        }
      }
    }
    List<String> lines = new ArrayList<>();
    lines.add("stateDiagram-v2");
    lines.add("    direction LR");
    NOT_BY_RULE.forEach(edge -> lines.add("    " + edge));
    edges.forEach(
        (edge, seen) -> {
          String when = unasked.contains(edge) ? "" : "cancel requested and<br>";
          lines.add("    " + edge + " : " + when + String.join("<br>", seen));
        });
    Stream.of("DONE", "FAILED", "CANCELLED", "SUPPRESSED")
        .forEach(end -> lines.add("    " + end + " --> [*]"));
    return String.join("\n", lines) + "\n";
  }

  /** The rules don't say it: what is seen of a task tells where it was. */
  private static String from(Rule rule) {
    if (rule.observation.startsWith("MANUAL_")) {
      return "PARKED";
    }
    if (OF_WAITING.contains(rule.observation)) {
      return rule.past ? "UNKNOWN" : "SCHEDULED";
    }
    return "CLAIMED";
  }

  private static String section(Contract contract, List<Rule> rules) {
    StringBuilder text = new StringBuilder("\n## ").append(contract).append("\n\n");
    text.append(
        "| observation | at large before | tries left | tries used up | cancel requested |\n");
    text.append("|---|---|---|---|---|\n");
    // what comes to the same stands in one line
    Map<String, List<String>> lines = new LinkedHashMap<>();
    for (String observation : OBSERVATIONS) {
      for (boolean past : new boolean[] {false, true}) {
        List<Rule> such =
            rules.stream()
                .filter(
                    r ->
                        r.contract == contract
                            && r.observation.equals(observation)
                            && r.past == past)
                .toList();
        if (!such.isEmpty()) {
          String rest =
              " | %s | %s | %s | %s |\n"
                  .formatted(
                      past ? "yes" : "no",
                      cell(such, true, false),
                      cell(such, false, false),
                      cancelled(such));
          lines.computeIfAbsent(rest, r -> new ArrayList<>()).add("`" + observation + "`");
        }
      }
    }
    lines.forEach((rest, seen) -> text.append("| ").append(String.join(", ", seen)).append(rest));
    return text.toString();
  }

  private static String cancelled(List<Rule> rules) {
    String left = cell(rules, true, true);
    String used = cell(rules, false, true);
    return left.equals(used) ? left : left + "; " + used + " when used up";
  }

  /** One answer, or that of either exhaustion policy. */
  private static String cell(List<Rule> rules, boolean triesLeft, boolean cancel) {
    return rules.stream()
        .filter(r -> r.triesLeft == triesLeft && r.cancel == cancel)
        .map(Rule::next)
        .distinct()
        .sorted()
        .collect(Collectors.joining(" or "));
  }
}
