package io.softdpu.samples;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.softdpu.compute.Dma;
import io.softdpu.compute.DmaMemcpyTask;
import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.core.device.Topology;
import io.softdpu.linux.text.Text;
import io.softdpu.testkit.Clause;
import io.softdpu.testkit.OwnFabric;
import io.softdpu.testkit.Patience;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests of the samples that need no second process, in this process. */
@ExtendWith(OwnFabric.class)
class SamplesTest {
    private static String run(String name, SampleSettings settings) {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        SampleProgram.find(name).run(settings, new PrintStream(out, true, StandardCharsets.UTF_8));
        return out.toString(StandardCharsets.UTF_8);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "pe-polling|completed, data is right: tasks=16",
                "pe-event|completed, data is right: tasks=16",
                "pe-reactive|completed, data is right: copies=16",
                "pe-async-stop|stopped, each task has ended: tasks=",
                "pe-multi-context|completed, data is right: tasks of each=[4, 4, 4, 4]",
                "pe-task-error|recovered: the context was started again and copies",
                "pe-task-resubmit|completed, data is right: copies=16, tasks=4",
                "pe-graph|completed: instances=10",
                "workq|completed, data is right: jobs=16, depth=4",
                "graph|completed: instances=10",
                "sha|in parts: parts=3, sha256="
            })
    void shouldRunToItsEndAndSayWhatItHasFound(String name, String said) {
        assertThat(run(name, SampleSettings.NONE)).contains(said);
    }

    @Test
    void shouldShowTheStatesOfAContextThatEnds() {
        assertThat(run("pe-reactive", SampleSettings.NONE))
                .contains(
                        "context: IDLE -> RUNNING",
                        "context: RUNNING -> STOPPING",
                        "context: STOPPING -> IDLE");
        assertThat(run("pe-task-error", SampleSettings.NONE))
                .contains(
                        "context: RUNNING -> STOPPING",
                        "context: STOPPING -> IDLE",
                        "second task ended with: BAD_STATE");
    }

    @Test
    void shouldCheckEachInstanceOfAGraphOnce() {
        assertThat(run("pe-graph", SampleSettings.NONE).lines())
                .hasSize(11)
                .endsWith("completed: instances=10")
                .filteredOn(line -> line.endsWith(", copies are right"))
                .containsExactlyInAnyOrderElementsOf(
                        IntStream.range(0, 10)
                                .mapToObj(i -> "instance=" + i + ", copies are right")
                                .toList());
    }

    @Test
    @Clause({"core-253", "core-254", "core-255"})
    void shouldPrintTheDigestAndCheckTheCopyOfEachInstanceWithoutParameters() throws Exception {
        List<String> expected = new ArrayList<>();
        for (int i = 0; i < 10; i++) {
            byte[] data = new byte[4096];
            Arrays.fill(data, (byte) (i + 1));
            String digest =
                    HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(data));
            expected.add(Text.format("instance=%d, sha256=%s, copy is right", i, digest));
        }
        assertThat(SampleProgram.find("graph").options()).noneMatch(SampleOption::required);
        List<String> lines = run("graph", SampleSettings.NONE).lines().toList();
        assertThat(lines)
                .hasSize(12)
                .startsWith("submitted: instances=10, runningNodes=20")
                .endsWith("completed: instances=10");
        assertThat(lines.subList(1, 11)).containsExactlyInAnyOrderElementsOf(expected);
    }

    /** The sample compares both the copy and the digest, and prints the result. */
    @Test
    @Clause("core-254")
    void shouldFailInTheLastNodeOfTheGraphWhereTheCopyOrTheDigestIsWrong() {
        ByteArrayOutputStream said = new ByteArrayOutputStream();
        PrintStream out = new PrintStream(said, true, StandardCharsets.UTF_8);
        try (DmaSampleSetup setup = new DmaSampleSetup(SampleSettings.NONE, 10, 4096);
                WorkQGraph.Digests digests = new WorkQGraph.Digests(setup);
                Dma dma = Dma.create(setup.device())) {
            boolean[] copied = new boolean[1];
            dma.setMemcpyTasks(
                    1,
                    task -> {
                        DmaSampleSetup.free(task);
                        copied[0] = true;
                    },
                    DmaSampleSetup::failed);
            setup.engine().start(dma, Patience.LIMIT);
            DmaMemcpyTask task = dma.allocateMemcpy(setup.source(3), setup.destination(3));
            assertThatThrownBy(() -> WorkQGraph.check(setup, digests, 3, out))
                    .isInstanceOf(WrongDataException.class)
                    .hasMessage("data is wrong: copy=3, byte=0, found=0, expected=4");
            setup.submit(task);
            setup.runUntil(() -> copied[0], dma);
            assertThatThrownBy(() -> WorkQGraph.check(setup, digests, 3, out))
                    .isInstanceOf(WrongDataException.class)
                    .hasMessageContaining("digest is wrong: instance=3, found=00000000");
        }
        assertThat(said.toString(StandardCharsets.UTF_8)).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(strings = {"pe-polling", "workq", "sha"})
    void shouldWorkOnTheDeviceThatWasChosen(String name) {
        String found = name.equals("sha") ? "whole: bytes=" : "data is right";
        assertThat(run(name, with(SampleOption.DEVICE, "p1"))).contains(found);
        assertThatThrownBy(() -> run(name, with(SampleOption.DEVICE, "nothing")))
                .isInstanceOfSatisfying(
                        DpuException.class,
                        e -> assertThat(e.status()).isEqualTo(Status.NOT_FOUND));
    }

    @Test
    void shouldBeListed() {
        List<Sample> all = Samples.all();
        assertThat(all).extracting(Sample::name).doesNotHaveDuplicates().hasSize(32);
        for (Sample sample : all) {
            assertThat(sample.summary()).endsWith(".").hasSizeLessThan(100);
            assertThat(sample.output()).endsWith(".").hasSizeLessThan(160);
            assertThat(sample.source()).endsWith(".").hasSizeLessThan(160);
            assertThat(sample.options()).contains(SampleOption.TIMEOUT);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"0", "-1", "soon", "NaN", "86401"})
    void shouldRefuseATimeThatIsNone(String text) {
        assertThatThrownBy(() -> run("pe-polling", with(SampleOption.TIMEOUT, text)))
                .isInstanceOfSatisfying(
                        DpuException.class,
                        e -> assertThat(e.status()).isEqualTo(Status.INVALID_VALUE))
                .hasMessageContaining("timeout=" + text);
    }

    @Test
    void shouldFailWhereAByteIsWrong() {
        MemorySegment memory = MemorySegment.ofArray(new byte[] {7, 7, 8});
        DmaSampleSetup.check(3, (byte) 7, memory.asSlice(0, 2));
        assertThatThrownBy(() -> DmaSampleSetup.check(3, (byte) 7, memory))
                .isInstanceOf(WrongDataException.class)
                .hasMessageContaining("copy=3, byte=2, found=8, expected=7");
    }

    @Test
    void shouldRefuseAMessageOfAStranger() {
        for (byte[] message : List.of(new byte[0], new byte[40], new byte[100])) {
            assertThatThrownBy(() -> CopyMessage.decode(message))
                    .hasMessageContaining("lengthBytes=" + message.length);
        }
        byte[] digest = new byte[32];
        CopyMessage message = CopyMessage.decode(new CopyMessage(5, digest, new byte[9]).encoded());
        assertThat(message.sizeBytes()).isEqualTo(5);
        assertThat(message.blob()).hasSize(9);
    }

    private static SampleSettings with(SampleOption option, String value) {
        return new SampleSettings(Topology.builtin(), Map.of(option, value));
    }
}
