package io.softdpu.rdma.roce.simulation;

import static org.assertj.core.api.Assertions.assertThat;

import io.softdpu.testkit.SeededRandom;
import io.softdpu.testkit.Soak;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Random programs over a network with faults: each request completes once and in order, all memory
 * is as a model of it says, and there is progress.
 *
 * <p>The first program has the seed of the test: a failure names the seed of its program, with
 * which {@code -Dsoftdpu.seed} replays it alone.
 */
@Tag(Soak.TAG)
class RoceSimulationTest {
    /** Failures of connections that a harsh network alone may cause, of as many programs. */
    private static final double MOST_FAILED = 0.03;

    @Test
    void shouldExecuteEachRequestOnceAndInOrderWhateverTheNetworkDoes(SeededRandom random) {
        int programs = Soak.count(100, 1_000, 100_000);
        long start = System.nanoTime();
        long packets = 0;
        int harsh = 0;
        int harshFailed = 0;
        int vanished = 0;
        for (int i = 0; i < programs; i++) {
            long seed = i == 0 ? random.seed() : random.nextLong();
            SimulatedProgram program = new SimulatedProgram(seed);
            run(program, seed);
            packets += program.delivered();
            vanished += program.hasVanished() ? 1 : 0;
            if (program.isHarsh() && !program.hasVanished()) {
                harsh++;
                harshFailed += program.hasFailed() ? 1 : 0;
            }
        }
        assertThat((double) harshFailed)
                .as("connections that have failed in harsh networks: programs=%d", harsh)
                .isLessThanOrEqualTo(3 + MOST_FAILED * harsh);
        Soak.report(
                "roce-simulation",
                random.seed(),
                Duration.ofNanos(System.nanoTime() - start),
                "programs="
                        + programs
                        + ", failed=0, packets="
                        + packets
                        + ", vanished="
                        + vanished
                        + ", harsh="
                        + harsh
                        + ", ended="
                        + harshFailed);
    }

    /** Runs a program; its failure names the seed, and the capture of its packets. */
    static void run(SimulatedProgram program, long seed) {
        try {
            program.run();
        } catch (AssertionError | RuntimeException e) {
            Path capture = program.log().write("roce-simulation-" + seed + ".pcap");
            throw new AssertionError(
                    "program fails: replay=-D"
                            + SeededRandom.SEED_PROPERTY
                            + "="
                            + seed
                            + ", capture="
                            + capture,
                    e);
        }
    }
}
