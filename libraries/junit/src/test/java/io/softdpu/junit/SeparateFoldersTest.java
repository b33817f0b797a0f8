package io.softdpu.junit;

import static org.assertj.core.api.Assertions.assertThat;

import io.softdpu.core.Side;
import io.softdpu.testkit.Patience;
import io.softdpu.testkit.StartsProcesses;
import org.junit.jupiter.api.Test;

/** Processes of a test whose target has a fabric folder of its own. */
@SoftDpuTest(separateFolders = Side.TARGET)
@StartsProcesses
class SeparateFoldersTest {
    private static String target(SoftDpu card) {
        return card.target().fabricFolder() + " " + card.targetDevice().info().ipv4();
    }

    private static void describeTarget(SoftDpu card) {
        System.out.println(target(card));
    }

    /** A main class that opens nothing. */
    static final class Program {
        private Program() {}

        public static void main(String[] arguments) {
            System.out.println(System.getenv("SOFTDPU_FABRIC"));
        }
    }

    @Test
    void shouldBeThoseOfTheTestInAllProcesses(SoftDpu card) {
        ChildJvm child = card.start(SeparateFoldersTest::describeTarget);
        ChildJvm ofTarget = card.startMain(Side.TARGET, Program.class);
        ChildJvm ofDpu = card.startMain(Side.DPU, Program.class);

        for (ChildJvm each : new ChildJvm[] {child, ofTarget, ofDpu}) {
            assertThat(each.awaitExit(Patience.LIMIT)).as("%s", each.errorLines()).isZero();
        }
        assertThat(child.outputLines()).containsExactly(target(card));
        assertThat(ofTarget.outputLines())
                .containsExactly(card.fabricFolder(Side.TARGET).toString());
        assertThat(ofDpu.outputLines()).containsExactly(card.fabricFolder().toString());
    }
}
