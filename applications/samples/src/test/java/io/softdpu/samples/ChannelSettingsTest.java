package io.softdpu.samples;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.softdpu.core.DpuException;
import io.softdpu.core.Side;
import io.softdpu.core.Status;
import io.softdpu.core.device.Machine;
import io.softdpu.core.device.PciFunction;
import io.softdpu.core.device.Topology;
import io.softdpu.testkit.Clause;
import io.softdpu.testkit.OwnFabric;
import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests of the arguments of the Comm Channel samples. */
@ExtendWith(OwnFabric.class)
class ChannelSettingsTest {
    private static final SampleOption ADDRESS = ChannelSettings.PCI_ADDRESS;
    private static final SampleOption SERVED = ChannelSettings.SERVED_FUNCTION;
    private static final SampleOption OWN = ChannelSettings.OWN_FUNCTION;
    private static final SampleOption TEXT = ChannelSettings.TEXT;

    private static void assertRefused(
            String sample, Topology card, Map<SampleOption, String> given, String... parts) {
        assertRefused(Status.INVALID_VALUE, sample, card, given, parts);
    }

    private static void assertRefused(
            Status expected,
            String sample,
            Topology card,
            Map<SampleOption, String> given,
            String... parts) {
        PrintStream out =
                new PrintStream(OutputStream.nullOutputStream(), false, StandardCharsets.UTF_8);
        SampleSettings settings = new SampleSettings(card, given);
        assertThatThrownBy(() -> SampleProgram.find(sample).run(settings, out))
                .isInstanceOfSatisfying(
                        DpuException.class, e -> assertThat(e.status()).isEqualTo(expected))
                .hasMessageContainingAll(parts);
    }

    /** The built-in card, with a lower limit on the messages of each function. */
    private static Topology withMessagesOf(int maxBytes) {
        return with("comch.max_message_size", maxBytes);
    }

    /** The built-in card, with a lower limit of each function. */
    private static Topology with(String limit, int value) {
        Topology.Builder card = Topology.builder("lower limits");
        for (PciFunction function : Topology.builtin().functions()) {
            card.add(function.toBuilder().limit(limit, value).build());
        }
        return card.build();
    }

    @ParameterizedTest
    @ValueSource(strings = {"comch-producer.max_tasks", "comch-consumer.max_tasks"})
    void shouldNeedTheFastPathOnTheDataPathAlone(String limit) {
        Topology card = with(limit, 0);
        for (String side : List.of("server", "client")) {
            Map<SampleOption, String> given =
                    side.equals("server") ? Map.of(SERVED, "0b:00.0") : Map.of();
            assertRefused(
                    Status.NOT_SUPPORTED,
                    "cc-data-path-high-speed-" + side,
                    card,
                    given,
                    "device does not support both ends of the fast path",
                    "expected=1 or more");
        }
        try (Machine dpu = Machine.builder(Side.DPU).topology(card).open()) {
            assertThat(
                            ChannelSettings.messageText(
                                    SampleSettings.NONE, dpu.findDevice("p0"), "text"))
                    .hasSize(4);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"cc-ctrl-path-server", "cc-data-path-high-speed-server"})
    void shouldRefuseAServerTextThatIsEmptyOrTooLong(String sample) {
        assertRefused(
                sample,
                Topology.builtin(),
                Map.of(SERVED, "0b:00.0", TEXT, ""),
                "lengthBytes=0, expected=1 to 4080");
        assertRefused(
                sample,
                withMessagesOf(64),
                Map.of(SERVED, "0b:00.0", TEXT, "x".repeat(65)),
                "option=--text, lengthBytes=65, expected=1 to 64");
    }

    @ParameterizedTest
    @ValueSource(strings = {"cc-ctrl-path-client", "cc-data-path-high-speed-client"})
    void shouldRefuseAClientTextThatIsEmptyOrTooLong(String sample) {
        assertRefused(
                sample, Topology.builtin(), Map.of(TEXT, ""), "lengthBytes=0, expected=1 to 4080");
        assertRefused(
                sample,
                Topology.builtin(),
                Map.of(TEXT, "\u00e4".repeat(2041)), // two bytes each
                "lengthBytes=4082, expected=1 to 4080");
        assertRefused(
                sample,
                withMessagesOf(64),
                Map.of(TEXT, "x".repeat(65)),
                "option=--text, lengthBytes=65, expected=1 to 64");
    }

    @ParameterizedTest
    @ValueSource(strings = {"cc-ctrl-path-client", "cc-data-path-high-speed-client"})
    void shouldRefuseTheRepresentorOfAnotherFunctionThanTheClients(String sample) {
        assertRefused(
                sample,
                Topology.builtin(),
                Map.of(ADDRESS, "0b:00.1", OWN, "0b:00.0"),
                "option=--rep-pci, representor=0b:00.0, device=0b:00.1, expected=0b:00.1");
    }

    @Test
    void shouldChooseTheDevicesOfTheBuiltInCardByDefault() {
        try (Machine dpu = Machine.open(Side.DPU);
                Machine host = Machine.open(Side.HOST)) {
            assertThat(ChannelSettings.port(dpu, SampleSettings.NONE).hasPciAddress("03:00.0"))
                    .isTrue();
            assertThat(ChannelSettings.function(host, SampleSettings.NONE).hasPciAddress("0b:00.0"))
                    .isTrue();
            for (String own : List.of("0b:00.0", "0000:0b:00.0", "hpf0")) {
                SampleSettings settings = new SampleSettings(Topology.builtin(), Map.of(OWN, own));
                assertThat(ChannelSettings.function(host, settings).interfaceName())
                        .as(own)
                        .isEqualTo("pf0");
            }
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"cc-ctrl-path-server", "cc-data-path-high-speed-server"})
    void shouldRefuseAServerWithoutARepresentor(String sample) {
        assertRefused(
                sample,
                Topology.builtin(),
                Map.of(),
                "value is missing: option=--rep-pci, expected=--rep-pci=ADDRESS");
    }

    @Test
    void shouldHaveFlagsBesideOptionsWithAValue() {
        SampleOption flag = SampleOption.flag("async", null, "Whether it polls");
        SampleSettings with = new SampleSettings(Topology.builtin(), Map.of(flag, ""));
        assertThat(flag.isFlag()).isTrue();
        assertThat(TEXT.isFlag()).isFalse();
        assertThat(with.isGiven(flag)).isTrue();
        assertThat(SampleSettings.NONE.isGiven(flag)).isFalse();
    }

    @Test
    @Clause({"cc-168", "cc-169", "cc-170"})
    void shouldTakeTheSameArgumentsInAllFourAndRequireTheRepresentorOnTheDpuAlone() {
        for (String pair : List.of("cc-ctrl-path", "cc-data-path-high-speed")) {
            for (String side : List.of("server", "client")) {
                Sample sample = SampleProgram.find(pair + "-" + side);
                assertThat(sample.options())
                        .extracting(option -> option.shortName() + " " + option.longName())
                        .containsExactly("p pci-addr", "r rep-pci", "t text", "null timeout");
                assertThat(sample.options().stream().filter(SampleOption::required))
                        .extracting(SampleOption::longName)
                        .as(sample.name())
                        .isEqualTo(side.equals("server") ? List.of("rep-pci") : List.of());
            }
        }
    }
}
