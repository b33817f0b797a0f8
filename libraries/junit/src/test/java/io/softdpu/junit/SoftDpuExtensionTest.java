package io.softdpu.junit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.softdpu.core.DpuException;
import io.softdpu.core.Side;
import io.softdpu.core.device.Device;
import io.softdpu.core.device.PciFunction;
import io.softdpu.core.device.Topology;
import io.softdpu.core.execution.Deadline;
import io.softdpu.core.execution.ProgressEngine;
import io.softdpu.core.execution.Sanitizer;
import io.softdpu.core.memory.AccessFlag;
import io.softdpu.core.memory.Buf;
import io.softdpu.core.memory.BufInventory;
import io.softdpu.core.memory.Mmap;
import io.softdpu.core.memory.Permissions;
import io.softdpu.core.memory.SharedMemory;
import io.softdpu.testkit.Patience;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.platform.engine.TestExecutionResult;

/** Results of tests that use the extension, right and wrong ones. */
class SoftDpuExtensionTest {
    private static final long SEED = 42;

    /** What the examples leave, for this test to close. */
    private static final Deque<AutoCloseable> LEFT = new ArrayDeque<>();

    /** Notes of the examples. */
    private static final List<String> SEEN = new CopyOnWriteArrayList<>();

    @BeforeEach
    void forget() {
        SEEN.clear();
    }

    @AfterEach
    void closeWhatTheExamplesLeft() throws Exception {
        while (!LEFT.isEmpty()) {
            LEFT.pop().close();
        }
    }

    private static Throwable failureOf(String method) {
        TestExecutionResult result = Run.of(Examples.class, method);
        assertThat(result.getStatus()).isEqualTo(TestExecutionResult.Status.FAILED);
        return result.getThrowable().orElseThrow();
    }

    private static void assertSucceeds(String method) {
        TestExecutionResult result = Run.of(Examples.class, method);
        assertThat(result.getThrowable()).isEmpty();
        assertThat(result.getStatus()).isEqualTo(TestExecutionResult.Status.SUCCESSFUL);
    }

    @Test
    void shouldOpenAllSidesAndCloseThemInOrder() {
        assertSucceeds("opensAll");
        assertThat(SEEN).hasSize(2).last().isEqualTo("closed");
        assertThat(Path.of(SEEN.getFirst())).doesNotExist();
        assertThat(Path.of(SEEN.getFirst()).getParent()).doesNotExist();
    }

    @Test
    void shouldGiveEachTestAFolderOfItsOwn() {
        assertSucceeds("notesItsFolder");
        assertSucceeds("notesItsFolder");
        assertThat(SEEN).hasSize(2).doesNotHaveDuplicates();
    }

    @Test
    void shouldFailATestThatLeavesAnEngineWithTheLineThatCreatedIt() {
        assertThat(failureOf("leavesAnEngine"))
                .isInstanceOf(AssertionError.class)
                .hasMessageContainingAll("seed=42, repeat with SOFTDPU_SANITIZE=42", "findings=1")
                .hasMessageMatching(
                        "(?s).*\n  ProgressEngine\\.create at SoftDpuExtensionTest\\.java:[0-9]+"
                                + " has left: descriptor [0-9]+.*");
    }

    @Test
    void shouldFailATestThatLeavesMemoryWithTheDeviceThatItUses() {
        Throwable failure = failureOf("leavesAnMmap");
        assertThat(failure)
                .hasMessageContainingAll("not closed: still in use: device=0b:00.0", "mmap")
                .hasMessageMatching(
                        "(?s).*\n  SharedMemory\\.allocate at SoftDpuEx.*:[0-9]+ has left.*")
                .hasMessageMatching(
                        "(?s).*\n  Mmap\\.exportPci at SoftDpuEx.* has left: .*region.*");
        assertThat(failure.getMessage()).doesNotContain("SoftDpu.host");
    }

    @Test
    void shouldFailATestWithAReportOfTheSanitizer() {
        Throwable failure = failureOf("forgetsABuf");
        assertThat(failure)
                .hasMessageContainingAll("BUF_LEAKED: ", "repeat with SOFTDPU_SANITIZE=42");
        assertThat(failure.getSuppressed())
                .anySatisfy(place ->
                        assertThat(Arrays.toString(place.getStackTrace())).contains("forgetsABuf"));
    }

    @Test
    void shouldAddTheSeedToAFailureOfTheTestAndKeepIt() {
        Throwable failure = failureOf("fails");
        assertThat(failure).isInstanceOf(IllegalStateException.class).hasMessage("of the test");
        assertThat(failure.getSuppressed())
                .singleElement()
                .satisfies(details ->
                        assertThat(details)
                                .hasMessageContainingAll(
                                        "seed=42, repeat with SOFTDPU_SANITIZE=42",
                                        "fabricFolder="));
    }

    @Test
    void shouldEndATestThatWaitsForASilentPeerByItsTimeLimit() {
        Throwable failure = failureOf("waitsForASilentPeer");
        assertThat(failure).isInstanceOf(TimeoutException.class);
        assertThat(failure.getSuppressed())
                .anySatisfy(wait ->
                        assertThat(wait)
                                .hasMessageContainingAll("interrupted", "awaited=a condition"));
    }

    @Test
    void shouldRefuseACardForAClass() {
        TestExecutionResult result = Run.of(WithConstructor.class, "any");
        assertThat(result.getThrowable().orElseThrow())
                .hasMessageContaining("a card belongs to one test");
    }

    @Test
    void shouldUseTheSeedOfTheEnvironmentElseARandomOne() {
        TestExecutionResult first = Run.of(Defaults.class, "notesItsSeed");
        TestExecutionResult second = Run.of(Defaults.class, "notesItsSeed");
        assertThat(first.getThrowable()).isEmpty();
        assertThat(second.getThrowable()).isEmpty();
        if (System.getenv(Sanitizer.ENVIRONMENT) == null) {
            assertThat(SEEN).hasSize(2).doesNotHaveDuplicates();
        }
    }

    @Test
    void shouldNotSanitizeIfConfigured() {
        assertThat(Run.of(NotSanitized.class, "notesItsSanitizer").getThrowable()).isEmpty();
        assertThat(Run.of(ByAnnotation.class, "notesItsSanitizer").getThrowable()).isEmpty();
        assertThat(Run.of(ByAnnotation.Inside.class, "notesItsSanitizer").getThrowable()).isEmpty();
        assertThat(SEEN).hasSize(3).containsOnly(String.valueOf(Sanitizer.current()));
    }

    /** Each test waits until all run; only those that leave an engine fail, each with its own. */
    @Test
    void shouldKeepTestsApartThatRunAtTheSameTime() {
        Map<String, TestExecutionResult> results =
                Run.inParallel(AtTheSameTime.class, AtTheSameTime.TESTS);
        Map<String, String> messages =
                results.entrySet().stream()
                        .collect(
                                Collectors.toMap(
                                        Map.Entry::getKey,
                                        entry ->
                                                entry.getValue()
                                                        .getThrowable()
                                                        .map(Throwable::getMessage)
                                                        .orElse("")));
        assertThat(messages).hasSize(AtTheSameTime.TESTS);
        assertThat(messages.get("clean(SoftDpu)")).isEmpty();
        assertThat(messages.get("leaky(SoftDpu)"))
                .contains("findings=1", "SharedMemory.allocate at");
        assertThat(messages.get("wrong(SoftDpu)")).contains("findings=1", "BUF_LEAKED");
        assertThat(SEEN).hasSize(AtTheSameTime.TESTS).doesNotHaveDuplicates();
    }

    /** Both cards are there at the same time. */
    @Test
    void shouldGiveSidesFoldersAndCardsAddressesOfTheirOwnIfConfigured() {
        Map<String, TestExecutionResult> results = Run.inParallel(Separate.class, Separate.TESTS);
        assertThat(results)
                .hasSize(Separate.TESTS)
                .allSatisfy((name, result) -> assertThat(result.getThrowable()).as(name).isEmpty());
        assertThat(SEEN)
                .as("one of each function of each card")
                .hasSize(Separate.TESTS * Topology.builtin().functions().size())
                .doesNotHaveDuplicates()
                .allMatch(address -> PciFunction.ipv4Of(address).getAddress()[1] < 0);
    }

    @Test
    void shouldTakeTheSidesOfTheAnnotation() {
        assertThat(Run.of(SeparateByAnnotation.class, "notesItsFolders").getThrowable()).isEmpty();
        assertThat(SEEN).hasSize(3).doesNotHaveDuplicates();
    }

    private static Mmap mmap(Device device, SharedMemory memory) {
        return Mmap.create()
                .setMemory(memory)
                .setPermissions(Permissions.of(AccessFlag.PCI_READ_WRITE))
                .addDevice(device)
                .start();
    }

    private static void forgetABufOf(SoftDpu card) {
        SharedMemory memory = card.closeAfterTest(SharedMemory.allocate(4096));
        Mmap mmap = card.closeAfterTest(mmap(card.dpuDevice(), memory));
        BufInventory inventory = card.closeAfterTest(BufInventory.create(1).start());
        Buf buf = inventory.bufByData(mmap, 0, 64);
        card.closeAfterTest(buf::release);
        assertThatThrownBy(inventory::stop).isInstanceOf(DpuException.class);
    }

    static class Examples {
        @RegisterExtension
        static final SoftDpuExtension CARD =
                SoftDpuExtension.builder().seed(SEED).leakDeadline(Duration.ofMillis(200)).build();

        @Test
        void opensAll(SoftDpu card) {
            for (Side side : Side.values()) {
                assertThat(card.machine(side)).isSameAs(card.machine(side));
                assertThat(card.machine(side).fabricFolder()).isEqualTo(card.fabricFolder());
                assertThat(card.device(side).machine()).isSameAs(card.machine(side));
            }
            assertThat(card.hostDevice().info().interfaceName()).isEqualTo("pf0");
            assertThat(card.dpuDevice().info().interfaceName()).isEqualTo("p0");
            assertThat(card.targetDevice().info().interfaceName()).isEqualTo("t0");
            assertThat(card.representor().info().interfaceName()).isEqualTo("hpf0");
            SEEN.add(card.fabricFolder().toString());
            ProgressEngine engine = card.engine();
            card.closeAfterTest(() -> {
                engine.progress(); // open until all objects of the test are closed
                SEEN.add("closed");
            });
        }

        @Test
        void notesItsFolder(SoftDpu card) {
            assertThat(Files.isDirectory(card.fabricFolder())).isTrue();
            SEEN.add(card.fabricFolder().toString());
        }

        @Test
        void leavesAnEngine(SoftDpu card) {
            LEFT.push(ProgressEngine.create());
        }

        @Test
        void leavesAnMmap(SoftDpu card) {
            Device device = card.hostDevice();
            LEFT.push(card.host());
            LEFT.push(device);
            SharedMemory memory = SharedMemory.allocate(4096);
            LEFT.push(memory);
            Mmap mmap = mmap(device, memory);
            LEFT.push(mmap);
            assertThat(mmap.exportPci(device)).isNotEmpty();
        }

        @Test
        void forgetsABuf(SoftDpu card) {
            forgetABufOf(card);
        }

        @Test
        @Timeout(value = 100, unit = TimeUnit.MILLISECONDS)
        void waitsForASilentPeer(SoftDpu card) {
            card.engine().runUntil(() -> false, Deadline.NO_LIMIT);
        }

        @Test
        void fails(SoftDpu card) {
            LEFT.push(ProgressEngine.create());
            throw new IllegalStateException("of the test");
        }
    }

    @SoftDpuTest
    static class Defaults {
        @Test
        void notesItsSeed(SoftDpu card) {
            SEEN.add(Long.toString(Objects.requireNonNull(Sanitizer.current()).seed()));
        }
    }

    static class NotSanitized {
        @RegisterExtension
        final SoftDpuExtension card = SoftDpuExtension.builder().sanitized(false).build();

        @Test
        void notesItsSanitizer(SoftDpu card) {
            SEEN.add(String.valueOf(Sanitizer.current()));
        }
    }

    @SoftDpuTest(sanitized = false)
    static class ByAnnotation {
        @Test
        void notesItsSanitizer(SoftDpu card) {
            SEEN.add(String.valueOf(Sanitizer.current()));
        }

        @Nested
        class Inside {
            @Test
            void notesItsSanitizer(SoftDpu card) {
                SEEN.add(String.valueOf(Sanitizer.current()));
            }
        }
    }

    @SoftDpuTest
    static class WithConstructor {
        WithConstructor(SoftDpu card) {}

        @Test
        void any(SoftDpu card) {}
    }

    static class AtTheSameTime {
        static final int TESTS = 3;
        private static final CyclicBarrier ALL = new CyclicBarrier(TESTS);

        @RegisterExtension
        static final SoftDpuExtension CARD =
                SoftDpuExtension.builder().leakDeadline(Duration.ofMillis(200)).build();

        private static void meet(SoftDpu card) throws Exception {
            assertThat(card.host().devices()).isNotEmpty();
            ALL.await(Patience.SECONDS, TimeUnit.SECONDS);
            SEEN.add(
                    Objects.requireNonNull(Sanitizer.current()).seed() + " " + card.fabricFolder());
        }

        @Test
        void clean(SoftDpu card) throws Exception {
            meet(card);
            ALL.await(Patience.SECONDS, TimeUnit.SECONDS);
        }

        @Test
        void leaky(SoftDpu card) throws Exception {
            meet(card);
            LEFT.push(SharedMemory.allocate(4096));
            ALL.await(Patience.SECONDS, TimeUnit.SECONDS);
        }

        @Test
        void wrong(SoftDpu card) throws Exception {
            meet(card);
            forgetABufOf(card);
            ALL.await(Patience.SECONDS, TimeUnit.SECONDS);
        }
    }

    static class Separate {
        static final int TESTS = 2;
        private static final CyclicBarrier ALL = new CyclicBarrier(TESTS);

        @RegisterExtension
        static final SoftDpuExtension CARD =
                SoftDpuExtension.builder().separateFolders(Side.TARGET).build();

        private static void check(SoftDpu card) throws Exception {
            assertThat(card.host().fabricFolder())
                    .isEqualTo(card.fabricFolder())
                    .isEqualTo(card.dpu().fabricFolder());
            assertThat(card.target().fabricFolder())
                    .isEqualTo(card.fabricFolder(Side.TARGET))
                    .isNotEqualTo(card.fabricFolder())
                    .hasParent(card.fabricFolder().getParent());
            assertThat(card.target().topology())
                    .isEqualTo(card.topology())
                    .isEqualTo(card.host().topology());
            card.topology().functions().forEach(each -> SEEN.add(each.ipv4().getHostAddress()));
            ALL.await(Patience.SECONDS, TimeUnit.SECONDS);
        }

        @Test
        void one(SoftDpu card) throws Exception {
            check(card);
        }

        @Test
        void other(SoftDpu card) throws Exception {
            check(card);
        }
    }

    @SoftDpuTest(separateFolders = {Side.HOST, Side.DPU, Side.TARGET})
    static class SeparateByAnnotation {
        @Test
        void notesItsFolders(SoftDpu card) {
            for (Side side : Side.values()) {
                SEEN.add(card.machine(side).fabricFolder().toString());
            }
        }
    }
}
