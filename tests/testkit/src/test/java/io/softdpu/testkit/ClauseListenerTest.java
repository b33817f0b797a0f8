package io.softdpu.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Disabled;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.junit.platform.engine.discovery.DiscoverySelectors;

class ClauseListenerTest {

    @TempDir Path folder;

    @Test
    void shouldWriteALineForEachClauseOfEachTest() throws IOException {
        Launching.run(DiscoverySelectors.selectClass(Examples.class), new ClauseListener(folder));

        String test = Examples.class.getName() + "#";
        assertThat(Files.readAllLines(folder.resolve(Examples.class.getName() + ".tsv")))
                .containsExactly(
                        "a-1\t" + test + "passes\tpassed\t",
                        "a-2\t" + test + "passes\tpassed\t",
                        "a-3\t" + test + "passes\tpassed\tno hardware, see the ADR",
                        "b-1\t" + test + "fails\tfailed\t",
                        "c-1\t" + test + "isSkipped\tskipped\t",
                        "d-1\t" + test + "isDisabled\tskipped\t",
                        "e-1\t" + test + "failsForOneOfThree\tfailed\t",
                        "f-1\t" + test + "isInherited\tpassed\t",
                        "s-1\t" + test + "fails\tfailed\t",
                        "s-1\t" + test + "failsForOneOfThree\tfailed\t",
                        "s-1\t" + test + "isDisabled\tskipped\t",
                        "s-1\t" + test + "isInherited\tpassed\t",
                        "s-1\t" + test + "isSkipped\tskipped\t",
                        "s-1\t" + test + "passes\tpassed\t");
    }

    @Test
    void shouldWriteNothingForTestsWithoutClauses() {
        Launching.run(
                DiscoverySelectors.selectMethod(Unmarked.class, "passes"),
                new ClauseListener(folder));

        assertThat(folder).isEmptyDirectory();
    }

    @Clause("s-1")
    abstract static class Suite {

        @Test
        @Clause("f-1")
        void isInherited() {}
    }

    static class Examples extends Suite {

        @Test
        @Clause({"a-1", "a-2"})
        @Clause(value = "a-3", refused = "no hardware, see the ADR")
        void passes() {}

        @Test
        @Clause("b-1")
        void fails() {
            throw new AssertionError("on purpose");
        }

        @Test
        @Clause("c-1")
        void isSkipped() {
            Assumptions.abort("on purpose");
        }

        @Test
        @Disabled("on purpose")
        @Clause("d-1")
        void isDisabled() {}

        @ParameterizedTest
        @ValueSource(ints = {1, 2, 3})
        @Clause("e-1")
        void failsForOneOfThree(int number) {
            assertThat(number).isNotEqualTo(2);
        }
    }

    static class Unmarked {

        @Test
        void passes() {}
    }
}
