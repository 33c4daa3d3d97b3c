package io.escapement.embedded;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.escapement.embedded.EmbeddedStartException.Reason;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class PortsTest {

  /** The database and the broker choose at the same moment. */
  @Test
  void thoseWhoAskAtOnceGetDifferentPorts() {
    List<Integer> ports =
        IntStream.range(0, 500).parallel().mapToObj(each -> Ports.free()).toList();
    assertThat(ports).doesNotHaveDuplicates().allMatch(port -> port >= 20_000 && port < 32_768);
  }

  @Test
  void aPortThatSomebodyListensOnIsRefused() throws Exception {
    try (ServerSocket other = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      assertThatThrownBy(() -> Ports.require(other.getLocalPort(), Reason.POSTGRES_PORT_TAKEN))
          .isInstanceOf(EmbeddedStartException.class)
          .hasMessage("port " + other.getLocalPort() + " is taken by another program");
    }
  }
}
