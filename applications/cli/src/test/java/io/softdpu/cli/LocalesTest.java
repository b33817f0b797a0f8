package io.softdpu.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.softdpu.core.Side;
import io.softdpu.core.device.Device;
import io.softdpu.core.device.Machine;
import io.softdpu.core.device.Topology;
import io.softdpu.core.execution.CpuBinding;
import io.softdpu.core.execution.ProgressEngine;
import io.softdpu.core.memory.Mmap;
import io.softdpu.perf.result.ResultHeader;
import io.softdpu.perf.text.Figures;
import io.softdpu.testkit.ChildProcess;
import io.softdpu.testkit.JavaCommand;
import io.softdpu.testkit.OwnFabric;
import io.softdpu.testkit.Processes;
import io.softdpu.testkit.StartsProcesses;
import io.softdpu.topology.json.TopologyJson;
import java.io.File;
import java.net.MalformedURLException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests of output, errors and figures in regions with other digits, commas and letter cases. */
@ExtendWith(OwnFabric.class)
class LocalesTest {
    private static final String FORMATS_OTHERWISE = "%d is formatted otherwise there";

    private static List<String> expected = List.of();

    @BeforeAll
    static void collectUnderRoot() throws Exception {
        expected = in("und", LocalesTest::all);
    }

    private static <T> T in(String tag, Callable<T> call) throws Exception {
        Locale before = Locale.getDefault();
        Locale display = Locale.getDefault(Locale.Category.DISPLAY);
        Locale format = Locale.getDefault(Locale.Category.FORMAT);
        Locale.setDefault(Locale.forLanguageTag(tag));
        try {
            return call.call();
        } finally {
            Locale.setDefault(before);
            Locale.setDefault(Locale.Category.DISPLAY, display);
            Locale.setDefault(Locale.Category.FORMAT, format);
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "ar-EG",
                "fa-IR",
                "mr-IN-u-nu-deva",
                "th-TH-u-nu-thai",
                "bn-BD",
                "ne-NP",
                "my-MM",
                "de-DE",
                "tr-TR"
            })
    void shouldSayTheSameInEveryRegion(String tag) throws Exception {
        assertThat(in(tag, LocalesTest::all)).isEqualTo(expected);
        boolean differs =
                in(
                        tag,
                        () ->
                                !String.format(Locale.getDefault(), "%d %.1f", 1, 0.5)
                                        .equals("1 0.5"));
        assertThat(differs || tag.equals("tr-TR")).as(FORMATS_OTHERWISE).isTrue();
    }

    /** The figures that a class makes when it is loaded, such as addresses of the built-in card. */
    @ParameterizedTest
    @ValueSource(strings = {"ar-EG", "fa-IR", "bn-BD", "my-MM", "tr-TR"})
    void shouldLoadTheBuiltInCardInEveryRegion(String tag) throws Exception {
        assertThat(in(tag, LocalesTest::freshTopology))
                .isEqualTo(TopologyJson.toJson(Topology.builtin()));
    }

    @Test
    void shouldNotChangeWhereTheLocaleIsSetAfterTheStart() throws Exception {
        try (Machine machine = Machine.builder(Side.HOST).open();
                Device device = machine.findDevice("pf0").open();
                ProgressEngine engine = ProgressEngine.create()) {
            List<String> before = texts(machine, device, engine);

            assertThat(in("ar-EG", () -> texts(machine, device, engine))).isEqualTo(before);
            assertThat(in("tr-TR", () -> texts(machine, device, engine))).isEqualTo(before);
        }
    }

    private static List<String> texts(Machine machine, Device device, ProgressEngine engine) {
        List<String> texts = new ArrayList<>();
        for (Object one : List.of(machine, device, device.info(), engine, CpuBinding.hard(12))) {
            texts.add(one.toString());
        }
        try (Mmap mmap = Mmap.create()) {
            texts.add(messageOf(() -> mmap.addDevice(device).start()));
        }
        texts.add(messageOf(() -> machine.findDevice("none")));
        return texts;
    }

    /** Texts that commands and libraries print and throw, without numbers that always differ. */
    private static List<String> all() throws Exception {
        List<String> all = new ArrayList<>();
        for (String words :
                List.of(
                        "topology",
                        "topology --json",
                        "caps",
                        "caps --json",
                        "devices",
                        "sample sha --text abc",
                        "sample pe-graph",
                        "sample sync-event-host --qdepth 0",
                        "sample rdma-send -t abc --port 1234567 --gid-index 99",
                        "perf comch rate --window 1234567",
                        "demo --repeat 12345",
                        "demo --size 12345",
                        "storage target -d t0 --cpu any --listen-port 123456 --volume memory:1M",
                        "storage initiator -d 0b:00.0 --cpu any --max-memory 0"
                                + " --execution-strategy read_throughput_test",
                        "--log-level INFO topologie",
                        "help storage initiator")) {
            Run run = Run.ofWords(words);
            all.add(words + " " + run.exit());
            all.addAll(run.outputLines());
            all.addAll(run.errorLines());
        }
        for (double value : new double[] {0, 0.125, 12, 1234.5, 1e9, 1.5e12}) {
            all.add(Figures.number(value));
            all.add(Figures.count(value));
            all.add(Figures.perSecond(value));
            all.add(Figures.gigabytesPerSecond(value));
            all.add(Figures.time(value));
            all.add(Figures.percent(value));
            all.add(Figures.seconds((long) value));
        }
        String date = ResultHeader.now("1").date().toString();
        assertThat(date).matches("[0-9TZ:.-]+");
        all.add(TopologyJson.toJson(Topology.builtin()));
        all.add(messageOf(() -> TopologyJson.parse("file", "{\"softdpu_topology\": 12}")));
        all.add(messageOf(() -> TopologyJson.read(Path.of("/none"))));
        all.add(messageOf(() -> CpuBinding.of("-5")));
        return all;
    }

    private static String messageOf(Callable<?> call) {
        try {
            return "no failure: " + call.call();
        } catch (Exception e) {
            return e.getMessage();
        }
    }

    private static String freshTopology() throws Exception {
        URL[] path =
                Stream.of(System.getProperty("java.class.path").split(File.pathSeparator))
                        .map(LocalesTest::urlOf)
                        .toArray(URL[]::new);
        try (URLClassLoader fresh =
                new URLClassLoader(path, ClassLoader.getPlatformClassLoader())) {
            Class<?> topology = fresh.loadClass(Topology.class.getName());
            Object builtin = topology.getMethod("builtin").invoke(null);
            return (String)
                    fresh.loadClass(TopologyJson.class.getName())
                            .getMethod("toJson", topology)
                            .invoke(null, builtin);
        }
    }

    private static URL urlOf(String entry) {
        try {
            return Path.of(entry).toUri().toURL();
        } catch (MalformedURLException e) {
            throw new IllegalArgumentException(entry, e);
        }
    }

    /** Libraries of others, such as the one that writes the completion script, format, too. */
    @ParameterizedTest
    @ValueSource(strings = {"topology", "completion bash", "help demo", "no-such-command"})
    @StartsProcesses
    void shouldPrintTheSameFromTheStartOn(String words, Processes processes) {
        ChildProcess plain = processes.start(command(words));
        ChildProcess there =
                processes.start(
                        command(words).withJvmOptions("-Duser.language=ar", "-Duser.country=EG"));

        assertThat(there.awaitExit()).isEqualTo(plain.awaitExit());
        assertThat(there.outputLines()).isEqualTo(plain.outputLines());
        assertThat(there.errorLines()).isEqualTo(plain.errorLines());
    }

    private static JavaCommand command(String words) {
        return JavaCommand.ofClass(SoftDpu.class).withArguments(words.split(" "));
    }

    /** Digits of other scripts, which Java takes for numbers, and a letter that Turkish has. */
    @ParameterizedTest
    @ValueSource(
            strings = {
                "demo --repeat ٣",
                "demo --size ٣M",
                "demo --seconds ٣",
                "storage target -d t0 --cpu any --listen-port ١٢ --volume memory:1M",
                "storage target -d t0 --cpu any --listen-port 0 --block-count ١٢",
                "storage target -d t0 --cpu any --listen-port 0 --listen-address ١.1.1.1",
                "storage target -d t0 --cpu ١ --listen-port 0 --volume memory:1M",
                "storage zero-copy -d p0 -r hpf0 --cpu any --storage-server 127.0.0.1:१२",
                "storage initiator -d 0b:00.0 --cpu any --transaction-count ９"
                        + " --execution-strategy read_throughput_test",
                "sample sync-event-host --async --qdepth ٣"
            })
    void shouldRefuseDigitsOfOtherScripts(String words) {
        Run run = Run.ofWords(words);

        assertThat(run.exit()).isIn(ExitCode.USAGE.code(), ExitCode.FAILED.code());
        assertThat(Arrays.asList(run.errorLines().getFirst().split("[,:] ")))
                .anyMatch(key ->
                        key.matches("(value|size|seconds|text|storageServer|depth|address)=.*"));
    }
}
