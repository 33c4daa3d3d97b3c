package io.escapement.dispatcher.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.net.InetAddress;
import java.net.UnknownHostException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class AddressGuardTest {

  @ParameterizedTest
  @ValueSource(
      strings = {
        "127.0.0.1",
        "127.9.9.9",
        "0.0.0.0",
        "0.1.2.3",
        "10.1.2.3",
        "172.16.0.1",
        "172.31.255.255",
        "192.168.1.1",
        "169.254.169.254",
        "100.64.0.1",
        "100.127.255.255",
        "192.0.0.1",
        "192.0.2.1",
        "198.18.0.1",
        "198.51.100.1",
        "203.0.113.9",
        "224.0.0.1",
        "240.0.0.1",
        "255.255.255.255",
        "::1",
        "::",
        "fe80::1",
        "fc00::1",
        "fd12::1",
        "fec0::1",
        "ff02::1",
        "::ffff:127.0.0.1",
        "::ffff:10.0.0.1",
        "64:ff9b::7f00:1",
        "64:ff9b::a00:1",
        "2002:7f00:1::",
        "2002:a00:1::1",
        "2001:db8::1",
        "2001::1",
        "::7f00:1",
        "100::1"
      })
  void whatIsNotPublicIsKeptOut(String address) throws Exception {
    assertThat(AddressGuard.isPublic(InetAddress.getByName(address))).isFalse();
    assertThatThrownBy(() -> AddressGuard.PUBLIC_ONLY.watch(address))
        .isInstanceOf(AddressGuard.ForbiddenAddressException.class)
        .hasMessageContaining("not public");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "1.1.1.1", "9.255.255.255", "11.0.0.1", "100.63.255.255", "100.128.0.1", "126.0.0.1",
        "128.0.0.1", "172.15.0.1", "172.32.0.1", "192.0.1.1", "192.167.0.1", "198.17.0.1",
        "198.20.0.1", "223.255.255.255", "2606:4700::1111", "64:ff9b::101:101", "2002:101:101::1"
      })
  void whatIsPublicPasses(String address) throws Exception {
    assertThat(AddressGuard.isPublic(InetAddress.getByName(address))).isTrue();
    AddressGuard.PUBLIC_ONLY.watch(address).close();
  }

  @Test
  void aNameIsJudgedByWhatItResolvesTo() throws Exception {
    assertThatThrownBy(() -> AddressGuard.PUBLIC_ONLY.watch("localhost"))
        .isInstanceOf(AddressGuard.ForbiddenAddressException.class);
    AddressGuard.NONE.watch("localhost").close();
    assertThatThrownBy(() -> AddressGuard.PUBLIC_ONLY.watch("no-such-host.invalid"))
        .isInstanceOf(UnknownHostException.class);
    assertThat(AddressGuard.isWatched("localhost")).isFalse();
    assertThat(AddressGuard.isWatched("no-such-host.invalid")).isFalse();
  }

  @Test
  void aNameIsWatchedUntilItsLastCallHasEnded() throws Exception {
    AddressGuard.Watch one = AddressGuard.PUBLIC_ONLY.watch("1.1.1.1");
    AddressGuard.Watch two = AddressGuard.PUBLIC_ONLY.watch("1.1.1.1");
    one.close();
    assertThat(AddressGuard.isWatched("1.1.1.1")).isTrue();
    two.close();
    assertThat(AddressGuard.isWatched("1.1.1.1")).isFalse();
  }
}
