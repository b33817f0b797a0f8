package io.softdpu.rdma.roce.simulation;

import static org.assertj.core.api.Assertions.assertThat;

import io.softdpu.testkit.SeededRandom;
import io.softdpu.testkit.Soak;
import java.time.Duration;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Hostile packets to an adapter with verified traffic on other connections. */
@Tag(Soak.TAG)
class RoceBadInputTest {
    @Test
    void shouldKeepOtherConnectionsWhateverAPeerSends(SeededRandom random) {
        int most = Soak.count(10_000, 100_000, 1_000_000);
        long start = System.nanoTime();
        long packets = 0;
        long ends = 0;
        int programs = 0;
        while (packets < most) {
            long seed = programs == 0 ? random.seed() : random.nextLong();
            programs++;
            SimulatedProgram program = new SimulatedProgram(seed);
            Intruder intruder = program.admitIntruder();
            RoceSimulationTest.run(program, seed);
            packets += intruder.packets();
            ends += intruder.ends();
        }
        assertThat(ends).as("connections that were ended").isPositive();
        Soak.report(
                "roce-bad-input",
                random.seed(),
                Duration.ofNanos(System.nanoTime() - start),
                "packets=" + packets + ", programs=" + programs + ", ended=" + ends);
    }
}
