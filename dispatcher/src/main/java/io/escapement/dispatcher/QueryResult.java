package io.escapement.dispatcher;

import org.jspecify.annotations.Nullable;

/** What is known after asking whether a task's earlier calls were accepted. */
public sealed interface QueryResult {

  /** One was, under the provider's own name if it gave one. */
  record Found(@Nullable String messageId) implements QueryResult {}

  /** None was: the provider would know by now. */
  record NotFound() implements QueryResult {}

  /** No answer, or one that does not tell. */
  record Failed(String why) implements QueryResult {}
}
