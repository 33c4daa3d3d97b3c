package io.escapement.dispatcher;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.escapement.ledger.ChannelDefinition;
import io.escapement.ledger.Contract;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class ChannelsTest {

  private record Named(String name, List<String> closed, boolean fails) implements Channel {
    @Override
    public SendResult send(Call call) {
      return new SendResult.Accepted(null);
    }

    @Override
    public void close() {
      closed.add(name);
      if (fails) {
        throw new IllegalStateException("no");
      }
    }
  }

  private final List<String> closed = new ArrayList<>();

  @Test
  void twoOfTheSameNameAreRefused() {
    assertThatThrownBy(() -> Channels.of(List.of(channel("mail"), channel("mail"))))
        .isInstanceOf(DispatcherException.class)
        .hasMessageContaining("channel 'mail' is set up twice");
  }

  @Test
  void oneThatTheLedgersHandlersDoIsRefused() {
    ChannelDefinition local =
        new ChannelDefinition("local", Contract.TRANSACTIONAL, null, null, null);
    assertThatThrownBy(() -> Channels.of(List.of(channel("local"))).requireFit(List.of(local)))
        .isInstanceOf(DispatcherException.class)
        .hasMessageContaining("TRANSACTIONAL");
  }

  @Test
  void oneThatCannotBeAskedMustNotBeQueryable() {
    Channels channels = Channels.of(List.of(channel("asks")));
    Duration second = Duration.ofSeconds(1);
    assertThatThrownBy(
            () -> channels.requireFit(List.of(ChannelDefinition.queryable("asks", second, second))))
        .hasMessageContaining("QUERYABLE");
    channels.requireFit(List.of(ChannelDefinition.opaque("asks", second)));
    channels.requireFit(List.of());
  }

  @Test
  void eachIsClosedThoughAnotherDoesNotCloseWell() {
    Channels.of(List.of(new Named("a", closed, true), channel("b"))).close();
    assertThat(closed).containsExactly("a", "b");
  }

  private Channel channel(String name) {
    return new Named(name, closed, false);
  }
}
