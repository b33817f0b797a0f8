package io.softdpu.perf.comch;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.core.device.Topology;
import io.softdpu.core.process.SharedFolder;
import io.softdpu.perf.card.ComchPair;
import io.softdpu.perf.child.JvmCommand;
import io.softdpu.perf.pair.TwoProcesses;
import io.softdpu.testkit.ClassPath;
import io.softdpu.testkit.Patience;
import io.softdpu.testkit.StartsProcesses;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Measurements whose DPU process ends in different ways afterwards. */
@StartsProcesses
class ComchSessionTest {
    private static final ComchPair PAIR = ComchPair.of(Topology.builtin());
    private static final ComchPlan PLAN = ComchPlans.of(ComchMode.RATE).nanos(50_000_000).build();

    @ParameterizedTest
    @ValueSource(ints = {0, 3})
    void shouldMeasureOnlyWhereItsOtherHalfEndsWell(int exitCode) {
        JvmCommand otherHalf =
                new JvmCommand(
                        List.of(
                                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                                "--enable-native-access=ALL-UNNAMED",
                                "-cp",
                                ClassPath.current().toString(),
                                OtherHalf.class.getName()));
        TwoProcesses<ComchPlan, ComchFigures> session =
                new TwoProcesses<>(
                        PLAN, PAIR, ComchHost::new, otherHalf, List.of(Integer.toString(exitCode)));

        if (exitCode == 0) {
            assertThat(session.run().median().operations()).isPositive();
        } else {
            assertThatThrownBy(session::run)
                    .isInstanceOfSatisfying(
                            DpuException.class,
                            e -> assertThat(e.status()).isEqualTo(Status.UNEXPECTED))
                    .hasMessageContaining(
                            "process of the DPU failed after the measurement: exit=3, expected=0");
        }
    }

    /** The refused message's buffer goes back, or its consumer could not end. */
    @Test
    void shouldEndWellAfterAMessageThatIsRefused(@TempDir Path folder) throws Exception {
        ComchPlan larger = ComchPlans.of(ComchMode.RATE).sizeBytes(64).build();
        Process living = new ProcessBuilder("cat").start();
        CompletableFuture<DpuException> endOfHost = new CompletableFuture<>();
        Thread host =
                Thread.ofPlatform().start(() -> endOfHost.complete(measureInVain(folder, living)));
        try {
            try (ComchDpu dpu = new ComchDpu(larger, PAIR, folder)) {
                assertThatThrownBy(dpu::run)
                        .hasMessage("message has another size: bytes=32, expected=64");
            }
            assertThat(endOfHost.get(Patience.SECONDS, TimeUnit.SECONDS).status())
                    .isEqualTo(Status.CONNECTION_RESET);
        } finally {
            living.destroy();
            host.join();
        }
    }

    private static DpuException measureInVain(Path fabric, Process otherHalf) {
        try (ComchHost host = new ComchHost(PLAN, PAIR, fabric, otherHalf)) {
            throw new AssertionError("measured: " + host.run());
        } catch (DpuException e) {
            return e;
        }
    }

    /** A DPU process that works and ends with a given exit code. */
    static final class OtherHalf {
        private OtherHalf() {}

        /** Runs it. */
        public static void main(String[] arguments) {
            Path folder = Path.of(arguments[2]); // after --parent-folder
            try (ComchDpu dpu = new ComchDpu(PLAN, PAIR, SharedFolder.fabricOf(folder))) {
                dpu.run();
            }
            System.exit(Integer.parseInt(arguments[0]));
        }
    }
}
