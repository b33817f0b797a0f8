package io.softdpu.topology.json;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.entry;

import io.softdpu.core.DpuException;
import io.softdpu.core.Side;
import io.softdpu.core.Status;
import io.softdpu.core.device.Machine;
import io.softdpu.core.device.PciFunction;
import io.softdpu.core.device.Topology;
import io.softdpu.testkit.Bounded;
import io.softdpu.testkit.NamedPipe;
import java.io.RandomAccessFile;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.Callable;
import org.assertj.core.api.AbstractThrowableAssert;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

class TopologyJsonTest {
    /** A function on each of lines 4 to 6. */
    private static final String GOOD =
            """
            {"softdpu_topology": 1,
             "name": "small",
             "functions": [
              {"side": "dpu", "interface_name": "p0", "ibdev_name": "mlx5_0", "function_type": "PF", "pci_address": "03:00.0", "ipv4": "127.3.0.1", "mac": "02:53:44:03:00:01", "vuid": "V-p0", "active_rate_bits_per_second": 1000},
              {"side": "host", "interface_name": "pf0", "ibdev_name": "mlx5_0", "function_type": "PF", "pci_address": "0000:0b:00.0", "parent": "p0", "representor": "hpf0", "ipv4": "127.11.0.1", "ipv6": "2001:db8::1", "mac": "02:53:44:0B:00:01", "vuid": "V-pf0", "active_rate_bits_per_second": 1000, "limits": {"example.max_things": 4}},
              {"side": "host", "interface_name": "pf1", "ibdev_name": "mlx5_1", "function_type": "PF", "pci_address": "0b:00.1", "parent": "p0", "representor": "hpf1", "ipv4": "127.11.1.1", "mac": "02:53:44:0b:01:01", "vuid": "V-pf1", "active_rate_bits_per_second": 1000}
             ]
            }
            """;

    @TempDir Path folder;

    private static AbstractThrowableAssert<?, ? extends Throwable> refused(String text) {
        return assertThatThrownBy(() -> TopologyJson.parse("card.json", text))
                .isInstanceOf(DpuException.class)
                .satisfies(
                        e -> assertThat(((DpuException) e).status()).isEqualTo(Status.BAD_CONFIG))
                .hasMessageContaining("file=card.json");
    }

    @Test
    void shouldReadAllThatAFunctionHas() {
        Topology small = TopologyJson.parse("card.json", GOOD);
        assertThat(small.name()).isEqualTo("small");
        assertThat(small.functions()).hasSize(3);
        PciFunction pf0 = small.functionByKey("host/pf0").orElseThrow();
        assertThat(pf0.pciAddress()).hasToString("0b:00.0");
        assertThat(pf0.parent()).isEqualTo("p0");
        assertThat(pf0.representor()).isEqualTo("hpf0");
        assertThat(pf0.ipv4().getHostAddress()).isEqualTo("127.11.0.1");
        assertThat(pf0.ipv6()).isEqualTo(PciFunction.ipv6Of("2001:db8::1"));
        assertThat(pf0.macAddress()).isEqualTo("02:53:44:0b:00:01");
        assertThat(pf0.activeRateBitsPerSecond()).isEqualTo(1000);
        assertThat(pf0.profile()).containsOnlyKeys("example.max_things");
        assertThat(pf0.lowered(ExampleSource.THINGS, 8)).isEqualTo(4);
        PciFunction pf1 = small.functionByKey("host/pf1").orElseThrow();
        assertThat(pf1.ipv6()).isEqualTo(PciFunction.linkLocalOf(pf1.macAddress()));
        assertThat(pf1.profile()).isEmpty();
    }

    @Test
    void shouldWriteWhatItReads() {
        Topology small = TopologyJson.parse("card.json", GOOD);
        Path file = folder.resolve("written.json");
        TopologyJson.write(small, file);
        Topology again = TopologyJson.read(file);
        assertThat(again).isEqualTo(small);
        assertThat(again.name()).isEqualTo("small");
        assertThat(TopologyJson.toJson(again)).isEqualTo(TopologyJson.toJson(small));
        assertThat(TopologyJson.load(file.toString())).isEqualTo(small);
    }

    @Test
    void shouldReadAndWriteZeroForALimitThatItsLibraryDeclaresAsOptional() {
        Topology without =
                TopologyJson.parse(
                        "card.json",
                        GOOD.replace("max_things\": 4", "max_extras\": 0, \"sha.most\": 0"));
        PciFunction pf0 = without.functionByKey("host/pf0").orElseThrow();
        assertThat(pf0.profile())
                .containsOnly(entry("example.max_extras", 0L), entry("sha.most", 0L));
        assertThat(pf0.lowered(ExampleSource.EXTRAS, 2)).isZero();
        assertThat(TopologyJson.parse("again", TopologyJson.toJson(without))).isEqualTo(without);
    }

    @Test
    void shouldKeepLimitsOfALibraryThatIsNotThere() {
        Topology small =
                TopologyJson.parse(
                        "card.json",
                        GOOD.replace(
                                "\"limits\": {",
                                "\"limits\": {\"sha.max_things\": 7, \"comch.most\": 9, "));
        assertThat(small.functionByKey("host/pf0").orElseThrow().profile())
                .containsOnly(
                        entry("comch.most", 9L),
                        entry("example.max_things", 4L),
                        entry("sha.max_things", 7L));
        assertThat(small.canonicalText())
                .contains(
                        " limit.comch.most=9 limit.example.max_things=4 limit.sha.max_things=7\n");
        assertThat(small.sha256Hex())
                .isNotEqualTo(TopologyJson.parse("card.json", GOOD).sha256Hex());
        assertThat(TopologyJson.parse("again", TopologyJson.toJson(small))).isEqualTo(small);
    }

    @Test
    void shouldShipTheBuiltInTopology() throws Exception {
        Topology shipped = TopologyJson.shipped("default");
        assertThat(shipped).isEqualTo(Topology.builtin());
        assertThat(shipped.sha256()).isEqualTo(Topology.builtin().sha256());
        byte[] resource = TopologyJson.class.getResourceAsStream("default.json").readAllBytes();
        assertThat(new String(resource, StandardCharsets.UTF_8))
                .as("as it is written, so that it is an example")
                .isEqualTo(TopologyJson.toJson(Topology.builtin()));
    }

    @Test
    void shouldShipTheAddressesOfTheStorageGuide() {
        Topology guide = TopologyJson.load("storage-guide");
        PciFunction host = guide.functionByKey("host/pf0").orElseThrow();
        assertThat(host.pciAddress()).hasToString("3b:00.0");
        assertThat(guide.parentOf(host).orElseThrow().pciAddress()).hasToString("03:00.0");
        assertThat(guide.functionsOf(Side.TARGET).getFirst().ipv4().getHostAddress())
                .isEqualTo("172.17.0.1");
        assertThatThrownBy(() -> TopologyJson.shipped("other"))
                .hasMessageContainingAll("name=other", "default", "storage-guide");
    }

    @Test
    void shouldNotJoinAFabricWithAnotherTopology() {
        Path fabric = folder.resolve("fabric");
        try (Machine first =
                Machine.builder(Side.HOST)
                        .fabricFolder(fabric)
                        .topology(TopologyJson.shipped("storage-guide"))
                        .open()) {
            assertThat(first.findDevice("3b:00.0").interfaceName()).isEqualTo("pf0");
            assertThatThrownBy(() -> Machine.builder(Side.DPU).fabricFolder(fabric).open())
                    .isInstanceOf(DpuException.class)
                    .hasMessageContainingAll(
                            "storage-guide",
                            "default",
                            first.topology().sha256Hex(),
                            Topology.builtin().sha256Hex());
            Machine.builder(Side.DPU)
                    .fabricFolder(fabric)
                    .topology(TopologyJson.shipped("storage-guide"))
                    .open()
                    .close();
        }
    }

    static List<Arguments> wrong() {
        return List.of(
                // what is changed in the good text, into what, the line, what else is said
                wrong(
                        "\"side\": \"dpu\"",
                        "\"side\": \"moon\"",
                        4,
                        "functions[0].side",
                        "moon",
                        "[host, dpu, target]"),
                wrong(
                        "\"mlx5_1\"",
                        "\"mlx5_0\"",
                        6,
                        "functions[2].ibdev_name",
                        "occurs twice",
                        "line 5"),
                wrong(
                        "\"pf1\"",
                        "\"pf0\"",
                        6,
                        "functions[2].interface_name",
                        "occurs twice",
                        "line 5"),
                wrong(
                        "0b:00.1",
                        "0b:00.0",
                        6,
                        "functions[2].pci_address",
                        "occurs twice",
                        "line 5"),
                wrong("hpf1", "hpf0", 6, "functions[2].representor", "occurs twice", "line 5"),
                wrong("V-pf1", "V-p0", 6, "functions[2].vuid", "occurs twice", "line 4"),
                wrong("03:00.0", "03:00", 4, "functions[0].pci_address", "value=03:00", "0b:00.0"),
                wrong("03:00.0", "03:20.0", 4, "functions[0].pci_address", "value=03:20.0"),
                wrong("127.3.0.1", "127.3.0.256", 4, "functions[0].ipv4", "127.3.0.256", "IPv4"),
                wrong("127.3.0.1", "localhost", 4, "functions[0].ipv4", "localhost"),
                wrong("2001:db8::1", "2001:db8", 5, "functions[1].ipv6", "IPv6"),
                wrong("2001:db8::1", "::ffff:1.2.3.4", 5, "functions[1].ipv6", "IPv6"),
                wrong("2001:db8::1", "fe80::1%lo", 5, "functions[1].ipv6", "fe80::1%lo"),
                wrong("02:53:44:03:00:01", "02:53:44:03:00", 4, "functions[0].mac", "MAC"),
                wrong("02:53:44:03:00:01", "02-53-44-03-00-01", 4, "functions[0].mac"),
                wrong(
                        "\"PF\", \"pci_address\": \"03",
                        "\"XF\", \"pci_address\": \"03",
                        4,
                        "functions[0].function_type",
                        "[PF, VF, SF]"),
                wrong(
                        "\"parent\": \"p0\", \"representor\": \"hpf0\"",
                        "\"parent\": \"p7\", \"representor\": \"hpf0\"",
                        5,
                        "functions[1].parent",
                        "unknown parent",
                        "p7",
                        "[p0]"),
                wrong(
                        "\"parent\": \"p0\", \"representor\": \"hpf1\"",
                        "\"parent\": \"p0\"",
                        6,
                        "functions[2].representor",
                        "missing field"),
                wrong("\"vuid\": \"V-p0\", ", "", 4, "functions[0].vuid", "missing field"),
                wrong(
                        "\"vuid\": \"V-p0\"",
                        "\"vuid\": 7",
                        4,
                        "functions[0].vuid",
                        "wrong type",
                        "value=7"),
                wrong("\"vuid\": \"V-p0\"", "\"vuid\": null", 4, "functions[0].vuid", "wrong type"),
                wrong("\"V-p0\"", "\"V p0\"", 4, "functions[0].vuid", "bad value"),
                wrong(
                        "\"vuid\": \"V-p0\"",
                        "\"colour\": \"red\"",
                        4,
                        "functions[0].colour",
                        "unknown field",
                        "ibdev_name"),
                wrong(
                        "\"vuid\": \"V-p0\"",
                        "\"mac\": \"02:53:44:03:00:02\"",
                        4,
                        "functions[0].mac",
                        "field occurs twice"),
                wrong("1000}", "\"1000\"}", 4, "active_rate_bits_per_second", "wrong type"),
                wrong("1000}", "10.5}", 4, "active_rate_bits_per_second", "wrong type"),
                wrong("1000}", "0}", 4, "active_rate_bits_per_second", "bad value"),
                wrong(
                        "1000}",
                        "99999999999999999999}",
                        4,
                        "active_rate_bits_per_second",
                        "too large"),
                wrong(
                        "example.max_things",
                        "example.most",
                        5,
                        "functions[1].limits.example.most",
                        "unknown limit",
                        "a limit of example, one of [example.max_things, example.max_extras]"),
                wrong(
                        "example.max_things",
                        "example.max_thigns",
                        5,
                        "functions[1].limits.example.max_thigns",
                        "unknown limit",
                        "; did you mean example.max_things?"),
                wrong(
                        "example.max_things",
                        "exmaple.max_things",
                        5,
                        "functions[1].limits.exmaple.max_things",
                        "unknown limit",
                        "expected=a limit of example, one of [example.max_things,"
                                + " example.max_extras]; did you mean example.max_things?"),
                wrong(
                        "example.max_things",
                        "exampl.foo",
                        5,
                        "functions[1].limits.exampl.foo",
                        "unknown limit",
                        "expected=a limit of example, one of [example.max_things,"
                                + " example.max_extras]"),
                wrong(
                        "example.max_things",
                        "core.max_imported_bytes",
                        5,
                        "functions[1].limits.core.max_imported_bytes",
                        "unknown limit",
                        "a limit of another library, core declares none"),
                wrong(
                        "example.max_things",
                        "max_things",
                        5,
                        "functions[1].limits.max_things",
                        "malformed limit",
                        "comch.max_clients"),
                wrong(
                        "{\"example.max_things\": 4}",
                        "{\"sha.a\": 4, \"sha.a\": 4}",
                        5,
                        "functions[1].limits.sha.a",
                        "field occurs twice"),
                wrong(
                        ": 4}}",
                        ": 0}}",
                        5,
                        "functions[1].limits.example.max_things",
                        "value=0",
                        "expected=a whole number from 1"),
                wrong(
                        "max_things\": 4",
                        "max_extras\": -1",
                        5,
                        "functions[1].limits.example.max_extras",
                        "value=-1",
                        "expected=a whole number from 0"),
                wrong(
                        ": 4}}",
                        ": \"4\"}}",
                        5,
                        "functions[1].limits.example.max_things",
                        "wrong type"),
                wrong("{\"example.max_things\": 4}", "[4]", 5, "functions[1].limits", "wrong type"),
                wrong(
                        "\"softdpu_topology\": 1",
                        "\"softdpu_topology\": 2",
                        1,
                        "softdpu_topology",
                        "unknown version",
                        "expected=1"),
                wrong("\"softdpu_topology\": 1,", "", 1, "softdpu_topology", "missing field"),
                wrong("\"name\": \"small\"", "\"name\": \" \"", 2, "field=name", "bad value"),
                wrong(
                        "\"name\": \"small\"",
                        "\"title\": \"small\"",
                        2,
                        "field=title",
                        "unknown field",
                        "softdpu_topology"),
                wrong("\"functions\": [", "\"functions\": [ 3,", 3, "functions[0]", "wrong type"),
                wrong("\n ]\n", "\n", 7, "not JSON"),
                wrong(" ]\n}", " ]\n} {}", 8, "something follows"));
    }

    private static Arguments wrong(String from, String to, int line, String... said) {
        return Arguments.of(from, to, line, said);
    }

    @ParameterizedTest
    @MethodSource("wrong")
    void shouldNameFileLineFieldAndWhatWasExpected(
            String from, String to, int line, String[] said) {
        assertThat(GOOD).contains(from);
        int at = GOOD.indexOf(from);
        String text = GOOD.substring(0, at) + to + GOOD.substring(at + from.length());
        refused(text)
                .hasMessageContaining("line=" + line)
                .hasMessageContaining("expected=")
                .hasMessageContainingAll(Arrays.copyOf(said, said.length, CharSequence[].class));
    }

    @Test
    void shouldRefuseWhatIsNoObjectAtAll() {
        refused("").hasMessageContaining("line=1");
        refused("[]").hasMessageContaining("expected=an object");
        refused("softdpu").hasMessageContaining("not JSON");
    }

    @Test
    void shouldRefuseAPipeWithoutWaitingForAWriter() {
        try (NamedPipe pipe = NamedPipe.create(folder.resolve("pipe.json"))) {
            for (Callable<Topology> read :
                    List.<Callable<Topology>>of(
                            () -> TopologyJson.read(pipe.path()),
                            () -> TopologyJson.load(pipe.path().toString()))) {
                assertThatThrownBy(() -> Bounded.call("reading a pipe", read))
                        .isInstanceOf(DpuException.class)
                        .satisfies(e ->
                                assertThat(((DpuException) e).status())
                                        .isEqualTo(Status.BAD_CONFIG))
                        .hasMessage(
                                "topology refused: file="
                                        + pipe.path()
                                        + ", reason=it is a pipe, expected=a regular file");
            }
        }
    }

    @Test
    void shouldRefuseToWriteIntoAPipeWithoutWaitingForAReader() {
        try (NamedPipe pipe = NamedPipe.create(folder.resolve("pipe.json"))) {
            assertThatThrownBy(() ->
                            Bounded.call(
                                    "writing to a pipe",
                                    () -> {
                                        TopologyJson.write(Topology.builtin(), pipe.path());
                                        return null;
                                    }))
                    .isInstanceOf(DpuException.class)
                    .satisfies(e ->
                            assertThat(((DpuException) e).status()).isEqualTo(Status.IO_FAILED))
                    .hasMessageContainingAll("topology cannot be written", "a pipe");
        }
    }

    @Test
    void shouldWriteInPlaceOfARegularFileAlone() throws Exception {
        Path file = Files.writeString(folder.resolve("card.json"), "any text".repeat(10_000));
        TopologyJson.write(Topology.builtin(), file);
        assertThat(TopologyJson.read(file)).isEqualTo(Topology.builtin());
        Path other = Files.writeString(folder.resolve("other.json"), "of the user");
        for (Path target : new Path[] {other, folder.resolve("none")}) {
            Path link = Files.createSymbolicLink(folder.resolve("link.json"), target);
            assertThatThrownBy(() -> TopologyJson.write(Topology.builtin(), link))
                    .satisfies(e ->
                            assertThat(((DpuException) e).status()).isEqualTo(Status.IO_FAILED))
                    .hasMessageContainingAll("file=" + link, "it is a symbolic link");
            Files.delete(link);
        }
        assertThat(other).hasContent("of the user");
        assertThat(folder.resolve("none")).doesNotExist();
    }

    @Test
    void shouldRefuseAFileOfThreeGibibytesUnread() throws Exception {
        Path large = folder.resolve("large.json");
        try (RandomAccessFile sparse = new RandomAccessFile(large.toFile(), "rw")) {
            sparse.setLength(3L << 30);
        }
        assertThatThrownBy(() -> TopologyJson.read(large))
                .isInstanceOf(DpuException.class)
                .hasMessage(
                        "topology refused: file="
                                + large
                                + ", reason=it is too large (3221225472 bytes), expected=at most"
                                + " 4194304 bytes");
    }

    @Test
    void shouldSayWhyAFileCannotBeRead() throws Exception {
        Path missing = folder.resolve("missing.json");
        assertThatThrownBy(() -> TopologyJson.read(missing))
                .satisfies(e -> assertThat(((DpuException) e).status()).isEqualTo(Status.NOT_FOUND))
                .hasMessageContainingAll(missing.toString(), "storage-guide");
        assertThatThrownBy(() -> TopologyJson.read(folder))
                .satisfies(
                        e -> assertThat(((DpuException) e).status()).isEqualTo(Status.BAD_CONFIG))
                .hasMessageContaining(
                        "file=" + folder + ", reason=it is a directory, expected=a regular file");
        Path bytes = Files.write(folder.resolve("bytes.json"), new byte[] {'{', (byte) 0xff});
        assertThatThrownBy(() -> TopologyJson.read(bytes)).hasMessageContaining("not UTF-8");
        Path large = folder.resolve("large.json");
        Files.write(large, new byte[TopologyJson.MAX_BYTES + 1]);
        assertThatThrownBy(() -> TopologyJson.read(large))
                .hasMessageContainingAll("large.json", "too large");
        assertThatThrownBy(() -> TopologyJson.read(Path.of("/dev/zero"))) // which has no end
                .hasMessageContainingAll("/dev/zero", "it is a character device");
        assertThatThrownBy(() -> TopologyJson.load("a\0b"))
                .isInstanceOf(DpuException.class)
                .hasMessageContaining("not a path: argument=fileOrName, value=a");
        assertThatThrownBy(() -> TopologyJson.write(Topology.builtin(), folder))
                .satisfies(
                        e -> assertThat(((DpuException) e).status()).isEqualTo(Status.IO_FAILED));
    }
}
