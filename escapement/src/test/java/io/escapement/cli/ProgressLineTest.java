package io.escapement.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;

class ProgressLineTest {

  private final ByteArrayOutputStream printed = new ByteArrayOutputStream();
  private final PrintStream out = new PrintStream(printed, true, StandardCharsets.UTF_8);

  @Test
  void onATerminalTheLineIsDrawnOverAndCutToItsWidth() {
    ProgressLine line = new ProgressLine(out, 10);
    line.show("0123456789abc");
    line.show("short");
    line.end();
    assertThat(printed.toString(StandardCharsets.UTF_8))
        .isEqualTo("\r\u001b[K012345678\r\u001b[Kshort" + System.lineSeparator());
  }

  @Test
  void elsewhereEachLineStandsForItself() {
    ProgressLine line = new ProgressLine(out, 0);
    line.show("0123456789abc");
    line.show("short");
    line.end();
    assertThat(printed.toString(StandardCharsets.UTF_8).lines())
        .containsExactly("0123456789abc", "short");
  }
}
