package io.escapement.dispatcher.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.net.spi.InetAddressResolver;
import java.net.spi.InetAddressResolver.LookupPolicy;
import java.net.spi.InetAddressResolverProvider;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.ServiceLoader;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** A name server that answers differently the second time gains nothing. */
class GuardedResolverTest {

  private static final LookupPolicy ANY = LookupPolicy.of(LookupPolicy.IPV4);

  @Test
  void aNameThatIsBeingCalledDoesNotResolveToWhatIsNotPublic() throws Exception {
    InetAddress good = InetAddress.getByName("1.1.1.1");
    InetAddress bad = InetAddress.getLoopbackAddress();
    InetAddressResolver resolver = resolver(new ArrayDeque<>(List.of(good, bad, bad, bad)));
    assertThat(resolver.lookupByName("1.1.1.1", ANY)).containsExactly(good);
    AddressGuard.Watch watch = AddressGuard.PUBLIC_ONLY.watch("1.1.1.1");
    assertThatThrownBy(() -> resolver.lookupByName("1.1.1.1", ANY))
        .isInstanceOf(UnknownHostException.class)
        .hasMessageContaining("127.0.0.1");
    assertThat(resolver.lookupByName("other", ANY)).as("nobody calls it").containsExactly(bad);
    watch.close();
    assertThat(resolver.lookupByName("1.1.1.1", ANY)).as("the control").containsExactly(bad);
  }

  @Test
  void thePlatformUsesIt() {
    assertThat(ServiceLoader.load(InetAddressResolverProvider.class))
        .hasAtLeastOneElementOfType(GuardedResolverProvider.class);
  }

  private static InetAddressResolver resolver(Deque<InetAddress> answers) {
    InetAddressResolver builtin =
        new InetAddressResolver() {
          @Override
          public Stream<InetAddress> lookupByName(String host, LookupPolicy policy) {
            return Stream.of(answers.remove());
          }

          @Override
          public String lookupByAddress(byte[] address) {
            return "name";
          }
        };
    return GuardedResolverProvider.guarded(builtin);
  }
}
