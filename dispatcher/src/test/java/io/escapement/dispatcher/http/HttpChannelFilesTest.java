package io.escapement.dispatcher.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.escapement.dispatcher.DispatcherException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class HttpChannelFilesTest {

  private static final String SECRET = "whsec_" + "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";

  @TempDir Path directory;

  @Test
  void allThatAFileCanSayIsRead() throws Exception {
    Files.writeString(directory.resolve("token"), "s3cret\n");
    write(
        "mail",
        """
        url = https://api.example.com/v1/{tenant}/messages
        method = PUT
        content-type = application/json
        header.Authorization = Bearer ${env:MAIL_TOKEN}
        header.X-Other = ${file:%s} {subject}
        key-header = X-Key
        replay = 208
        refused = 429, 503
        rejected = 400,422
        unauthorized = 401
        message-id-header = X-Id
        query.url = https://api.example.com/v1/by-key/{key}
        query.found = 200,203
        query.not-found = 404,410
        signing-secret = %s
        allow-private = true
        connect-timeout-ms = 250
        response-limit-bytes = 1000
        """
            .formatted(directory.resolve("token"), SECRET));
    HttpChannelConfig mail = read().get(0);
    assertThat(mail.name()).isEqualTo("mail");
    assertThat(mail.url()).hasToString("https://api.example.com/v1/{tenant}/messages");
    assertThat(mail.method()).isEqualTo("PUT");
    assertThat(mail.contentType()).isEqualTo("application/json");
    assertThat(mail.headers().get("Authorization")).hasToString("Bearer t0ken");
    assertThat(mail.headers().get("X-Other")).hasToString("s3cret {subject}");
    assertThat(mail.keyHeader()).isEqualTo("X-Key");
    assertThat(mail.replay()).containsExactly(208);
    assertThat(mail.refused()).containsExactlyInAnyOrder(429, 503);
    assertThat(mail.rejected()).containsExactlyInAnyOrder(400, 422);
    assertThat(mail.unauthorized()).containsExactly(401);
    assertThat(mail.messageIdHeader()).isEqualTo("X-Id");
    assertThat(mail.queryUrl()).hasToString("https://api.example.com/v1/by-key/{key}");
    assertThat(mail.found()).containsExactlyInAnyOrder(200, 203);
    assertThat(mail.notFound()).containsExactlyInAnyOrder(404, 410);
    assertThat(mail.signingSecret()).hasSize(24);
    assertThat(mail.allowPrivate()).isTrue();
    assertThat(mail.connectTimeout()).isEqualTo(Duration.ofMillis(250));
    assertThat(mail.responseLimit()).isEqualTo(1_000);
    assertThat(mail.toString()).as("secrets are not shown").doesNotContain("t0ken", "s3cret");
  }

  @Test
  void withoutMoreThanAnAddressNoStatusMeansAnythingButTheUsual() throws Exception {
    write("hook", "url = {address}\n");
    Files.writeString(directory.resolve("README"), "not a channel");
    HttpChannelConfig hook = read().get(0);
    assertThat(hook.goesToAddresses()).isTrue();
    assertThat(hook.method()).isEqualTo("POST");
    assertThat(hook.keyHeader()).isEqualTo("Idempotency-Key");
    assertThat(hook.replay()).isEmpty();
    assertThat(hook.refused()).isEmpty();
    assertThat(hook.rejected()).isEmpty();
    assertThat(hook.unauthorized()).containsExactlyInAnyOrder(401, 403);
    assertThat(hook.queryUrl()).isNull();
    assertThat(hook.signingSecret()).isNull();
    assertThat(hook.allowPrivate()).isFalse();
    assertThat(read()).hasSize(1);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "method = POST | url: is missing",
        "url = ftp://x/ | url: it must be {address}, or begin with http",
        "url = https://{tenant}.example.com/ | without placeholders",
        "url = https://example.com{tenant} | without placeholders",
        "url = https://user@example.com/ | url: it must be",
        "url = http://x/{nothing} | unknown placeholders [nothing]; there are [address, id,",
        "url = http://x/;method = GET | method: it is one of [PATCH, POST, PUT], not 'GET'",
        "url = http://x/;colour = red | colour: there is no such key; there are [allow-private,",
        "url = http://x/;refused = 42 | refused: it is a list of statuses",
        "url = http://x/;refused = 503;rejected = 503 | status 503: is in more than one",
        "url = http://x/;rejected = 401 | status 401: is in more than one",
        "url = http://mail_gateway/x | url: an address needs a host that is one",
        "url = http://x/a b | url: not an address",
        "url = http://x/;query.url = http://x/{key} | query.not-found: is missing",
        "url = http://x/;query.url = http://x/{key};query.not-found = 200 | status 200: is in more",
        "url = http://x/;header.Host = y | header.Host: can't be set",
        "url = http://x/;header.A = ${env:NOT_SET} | header.A: the environment has no NOT_SET",
        "url = http://x/;header.A = ${file:/no/such} | the file /no/such can't be read",
        "url = http://x/;signing-secret = short | signing secret",
        "url = http://x/;signing-secret = c2hvcnQ= | has 24 to 64 bytes, not 5",
        "url = http://x/;allow-private = yes | allow-private: it is true or false",
        "url = http://x/;connect-timeout-ms = 0 | it is a number from 1 to 60000",
      })
  void whatIsWrongIsOneLineThatNamesTheFileTheKeyAndTheCure(String file, String message)
      throws Exception {
    write("bad", file.replace(';', '\n'));
    assertThatThrownBy(this::read)
        .isInstanceOf(DispatcherException.class)
        .hasMessageContaining("bad.properties")
        .hasMessageContaining(message)
        .message()
        .doesNotContain("\n");
  }

  @Test
  void aDirectoryThatIsNotThereIsNamed() {
    assertThatThrownBy(() -> HttpChannelFiles.read(directory.resolve("gone"), name -> null))
        .isInstanceOf(DispatcherException.class)
        .hasMessageContaining("dispatcher.channels")
        .hasMessageContaining("gone");
  }

  private void write(String name, String text) throws IOException {
    Files.writeString(directory.resolve(name + ".properties"), text);
  }

  private List<HttpChannelConfig> read() {
    return HttpChannelFiles.read(directory, Map.of("MAIL_TOKEN", "t0ken")::get);
  }
}
