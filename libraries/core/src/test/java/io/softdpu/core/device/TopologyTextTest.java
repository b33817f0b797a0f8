package io.softdpu.core.device;

import static org.assertj.core.api.Assertions.assertThat;

import io.softdpu.core.Side;
import io.softdpu.core.Status;
import io.softdpu.core.Thrown;
import java.net.Inet6Address;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class TopologyTextTest {
    private static final String HEAD = "softdpu topology 1\n";
    private static final String LINE =
            "function side=dpu interface=p0 ibdev=mlx5_0 type=PF pci=0000:03:00.0 parent=-"
                    + " representor=- ipv4=127.3.0.1 mac=02:53:44:03:00:01 vuid=V rate=1000";

    @Test
    void shouldReadWhatItWrites() {
        Topology builtin = Topology.builtin();
        assertThat(Topology.parse("again", builtin.canonicalText())).isEqualTo(builtin);
        Topology.Builder more = Topology.builder("more");
        builtin.functions().stream()
                .map(f ->
                        f.toBuilder()
                                .ipv6("2001:db8::1")
                                .limit("rdma.max_connections", 2)
                                .limit("comch.max_clients", 1)
                                .hotplugged(f.parent() != null)
                                .build())
                .forEach(more::add);
        Topology all = more.build();
        assertThat(all.canonicalText())
                .contains(
                        " ipv6=2001:db8:0:0:0:0:0:1 limit.comch.max_clients=1"
                                + " limit.rdma.max_connections=2 hotplugged=yes\n");
        assertThat(Topology.parse("again", all.canonicalText())).isEqualTo(all);
        assertThat(all.sha256Hex()).isNotEqualTo(builtin.sha256Hex());
    }

    /** Programs of several versions share a card, so a text must always have the hash it had. */
    @Test
    void shouldKeepTextAndHashOfATopologyWithLimits() {
        String text =
                HEAD
                        + LINE
                        + " limit.comch-producer.max_tasks=5 limit.comch.max_clients=3"
                        + " limit.rdma.max_connections=2\n";
        Topology limited =
                Topology.builder("limited")
                        .add(
                                one().toBuilder()
                                        .limit("rdma.max_connections", 2)
                                        .limit(DeviceLimit.ofCount("comch", "max_clients"), 3)
                                        .limit("comch-producer.max_tasks", 5)
                                        .build())
                        .build();
        assertThat(limited.canonicalText()).isEqualTo(text);
        assertThat(Topology.parse("again", text)).isEqualTo(limited);
        assertThat(limited.sha256Hex())
                .isEqualTo("4b68f1b8c0e6e289cf589e3d04f28242fc91ca37bc5a6588b87940eafe9d6bfc");
    }

    @Test
    void shouldReadTheLongestNameOfALimitThatItWrites() {
        String id = "l".repeat(32) + "." + "c".repeat(64);
        Topology longest =
                Topology.builder("longest").add(one().toBuilder().limit(id, 1).build()).build();
        assertThat(Topology.parse("again", longest.canonicalText())).isEqualTo(longest);
        Thrown.with(Status.INVALID_VALUE, () -> one().toBuilder().limit("l" + id, 1));
        Thrown.with(Status.INVALID_VALUE, () -> one().toBuilder().limit(id + "c", 1));
    }

    /** Else a function that was plugged in would leave a note that no program can read. */
    @Test
    void shouldReadTheExtremesThatItWrites() throws Exception {
        byte[] local = PciFunction.linkLocalOf("02:53:44:03:00:02").getAddress();
        PciFunction function =
                one().toBuilder()
                        .activeRate(Long.MAX_VALUE)
                        .ipv6(Inet6Address.getByAddress(null, local, 3)) // of interface 3
                        .limit("comch.max_clients", Long.MAX_VALUE)
                        .build();
        Topology extreme = Topology.builder("extreme").add(function).build();
        assertThat(Topology.parse("again", extreme.canonicalText())).isEqualTo(extreme);
    }

    @Test
    void shouldTakeNoIpv4AddressForOneOfIpv6() throws Exception {
        Thrown.with(Status.INVALID_VALUE, () -> PciFunction.ipv6Of("::ffff:127.0.0.1"))
                .hasMessage("not an IPv6 address: text=::ffff:127.0.0.1");
        byte[] mapped = new byte[16];
        mapped[10] = (byte) 0xff;
        mapped[11] = (byte) 0xff;
        mapped[12] = 127;
        Inet6Address address = Inet6Address.getByAddress(null, mapped, -1);
        Thrown.with(Status.INVALID_VALUE, () -> one().toBuilder().ipv6(address).build())
                .hasMessageContainingAll("IPv4", "127.0.0.0");
    }

    private static PciFunction one() {
        return Topology.parse("one", HEAD + LINE + "\n").functions().getFirst();
    }

    @Test
    void shouldReadALineWithNothingMore() {
        Topology one = Topology.parse("one", HEAD + LINE + "\n");
        assertThat(one.functions())
                .singleElement()
                .satisfies(f -> {
                    assertThat(f.key()).isEqualTo("dpu/p0");
                    assertThat(f.ipv6()).isEqualTo(PciFunction.linkLocalOf(f.macAddress()));
                    assertThat(f.profile()).isEmpty();
                    assertThat(f.hotplugged()).isFalse();
                    assertThat(f.side()).isEqualTo(Side.DPU);
                });
        assertThat(Topology.parse("none", HEAD).functions()).isEmpty();
    }

    @ParameterizedTest
    @CsvSource({
        "softdpu topology 2, line=1",
        "function side=moon, line=2",
        "type=XF, line=2",
        "pci=03:00, 03:00",
        "rate=-1, line=2",
        "rate=1000 what=1, what=1",
        "rate=1000 hotplugged=no, hotplugged=no",
        "rate=1000 limit.nothing=1, limit=nothing",
        "rate=1000 limit.comch.max.clients=1, limit=comch.max.clients",
        "rate=1000 limit.Comch.max_clients=1, limit.Comch.max_clients",
        "rate=1000 limit.comch.max_clients=-1, limit is too low",
        "rate=1000 limit.comch.max_clients=many, many",
        "rate=1000 ipv6=host.example, host.example",
        "rate=1000  ipv6=::1, line=2"
    })
    void shouldNameTheLineThatIsWrong(String wrong, String named) {
        String key = wrong.substring(0, wrong.indexOf(wrong.startsWith("softdpu") ? '2' : '=') + 1);
        String text =
                wrong.startsWith("softdpu")
                        ? wrong + "\n" + LINE + "\n"
                        : HEAD + LINE.replaceFirst(key + "\\S+", wrong) + "\n";
        Thrown.with(Status.INVALID_VALUE, () -> Topology.parse("t", text))
                .hasMessageContainingAll("not the text of a topology", named);
    }

    @Test
    void shouldNotTakeATextThatWasCutOff() {
        Thrown.with(Status.INVALID_VALUE, () -> Topology.parse("t", HEAD + LINE))
                .hasMessageContaining("a line feed at the end");
        Thrown.with(Status.INVALID_VALUE, () -> Topology.parse("t", ""))
                .hasMessageContaining("line=1");
    }
}
