package io.softdpu.perf.child;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.softdpu.core.DpuException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;

class JvmCommandTest {
    @Test
    void shouldTakeFromItsOwnCommandLineWhatStartsAnotherOneLikeIt() {
        List<String> words =
                JvmCommand.split(
                        "java\0-p\0a b:c\0-m\0io.softdpu.cli/Main\0demo\0--volume\0\0"
                                .getBytes(StandardCharsets.UTF_8));

        JvmCommand command =
                JvmCommand.of(words, List.of("demo", "--volume", ""), Path.of("/jdk/bin/java"));

        assertThat(command.prefix())
                .containsExactly("/jdk/bin/java", "-p", "a b:c", "-m", "io.softdpu.cli/Main");
        assertThat(command.with(List.of("storage"))).endsWith("io.softdpu.cli/Main", "storage");
    }

    @Test
    void shouldRefuseToGuessHowItWasStarted() {
        assertThatThrownBy(() ->
                        JvmCommand.of(
                                List.of("java", "Other", "x"),
                                List.of("demo"),
                                Path.of("/jdk/bin/java")))
                .isInstanceOf(DpuException.class)
                .hasMessageStartingWith("process was not started as the softdpu command");
    }
}
