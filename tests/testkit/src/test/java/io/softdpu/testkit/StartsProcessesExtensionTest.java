package io.softdpu.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.junit.platform.engine.TestExecutionResult;
import org.junit.platform.engine.TestExecutionResult.Status;
import org.junit.platform.engine.discovery.DiscoverySelectors;

@StartsProcesses
class StartsProcessesExtensionTest {

    @ParameterizedTest
    @ValueSource(
            strings = {
                "startsByProcessBuilder",
                "startsByRuntime",
                "startsByTheTestkit",
                "startsOnAnotherThread"
            })
    void shouldFailATestThatStartsAProcessWithoutTheMark(String method) {
        TestExecutionResult result =
                Launching.run(DiscoverySelectors.selectMethod(Unmarked.class, method)).onlyResult();

        assertThat(result.getStatus()).isEqualTo(Status.FAILED);
        Throwable failure = result.getThrowable().orElseThrow();
        assertThat(failure)
                .hasMessageMatching(
                        "starts a process without @StartsProcesses: processes=1, first=.*true.*");
        assertThat(failure.getSuppressed())
                .singleElement()
                .satisfies(call ->
                        assertThat(call.getStackTrace())
                                .anyMatch(frame ->
                                        frame.getClassName().startsWith("java.lang.Process")));
    }

    @Test
    void shouldFailAClassWithoutTheMarkThatStartsAProcessForAllItsTests() {
        Launching launching = Launching.run(DiscoverySelectors.selectClass(UnmarkedClass.class));

        assertThat(launching.onlyResult().getStatus()).isEqualTo(Status.SUCCESSFUL);
        assertThat(launching.containerResults())
                .filteredOn(result -> result.getStatus() == Status.FAILED)
                .singleElement()
                .satisfies(result ->
                        assertThat(result.getThrowable().orElseThrow())
                                .hasMessageContaining("without @StartsProcesses"));
    }

    @Test
    void shouldPassMarkedTestsMarkedClassesTheirNestedAndTheirSubclasses() {
        for (Class<?> type : List.of(Marked.class, Subclass.class, Enclosing.class)) {
            Launching launching = Launching.run(DiscoverySelectors.selectClass(type));

            assertThat(launching.results())
                    .as(type.getSimpleName())
                    .singleElement()
                    .extracting(TestExecutionResult::getStatus)
                    .isEqualTo(Status.SUCCESSFUL);
            assertThat(launching.containerResults())
                    .extracting(TestExecutionResult::getStatus)
                    .containsOnly(Status.SUCCESSFUL);
        }
    }

    private static void runTrue() throws IOException, InterruptedException {
        new ProcessBuilder("true").inheritIO().start().waitFor();
    }

    static class Unmarked {
        @Test
        void startsByProcessBuilder() throws Exception {
            runTrue();
        }

        @Test
        void startsByRuntime() throws Exception {
            Process process = Runtime.getRuntime().exec(new String[] {"true"});
            process.waitFor();
            process.getInputStream().close();
            process.getErrorStream().close();
            process.getOutputStream().close();
        }

        @Test
        void startsByTheTestkit() {
            try (Processes processes = new Processes()) {
                processes.start(new ProcessBuilder("true"));
            }
        }

        @Test
        void startsOnAnotherThread() {
            CompletableFuture.runAsync(
                            () -> {
                                try {
                                    runTrue();
                                } catch (IOException | InterruptedException e) {
                                    throw new AssertionError(e);
                                }
                            })
                    .join();
        }
    }

    static class UnmarkedClass {
        @BeforeAll
        static void start() throws Exception {
            runTrue();
        }

        @Test
        void startsNothing() {}
    }

    static class Marked {
        @Test
        @StartsProcesses
        void startsOne() throws Exception {
            runTrue();
        }
    }

    @StartsProcesses
    abstract static class Suite {
        @BeforeAll
        static void start() throws Exception {
            runTrue();
        }

        @Test
        void startsAnother() throws Exception {
            runTrue();
        }
    }

    static class Subclass extends Suite {}

    @StartsProcesses
    static class Enclosing {
        @Nested
        class Inner {
            @Test
            void startsOne() throws Exception {
                runTrue();
            }
        }
    }
}
