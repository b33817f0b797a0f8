package io.softdpu.perf.child;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.softdpu.core.DpuException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.OptionalLong;
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
        assertThat(command.behind(List.of("nsenter", "--net=/x")).with(List.of("storage")))
                .startsWith("nsenter", "--net=/x", "/jdk/bin/java", "-p")
                .endsWith("storage");
    }

    @Test
    void shouldSayOfAKilledProcessThatItWasProbablyForMemory() {
        String probably = "exit=137 (SIGKILL, probably for lack of memory)";
        OptionalLong unknown = OptionalLong.empty();

        assertThat(JvmCommand.describeKill(OptionalLong.of(3), OptionalLong.of(4)))
                .isEqualTo(probably);
        assertThat(JvmCommand.describeKill(unknown, unknown)).isEqualTo(probably);
        assertThat(JvmCommand.describeKill(unknown, OptionalLong.of(4))).isEqualTo(probably);
        assertThat(JvmCommand.describeKill(OptionalLong.of(3), unknown)).isEqualTo(probably);
        assertThat(JvmCommand.describeKill(OptionalLong.of(3), OptionalLong.of(3)))
                .isEqualTo(
                        "exit=137 (SIGKILL, but the kernel has counted no kill for lack of"
                                + " memory)");
    }

    @Test
    void shouldDescribeOtherEndsByTheirExitCode() {
        assertThat(JvmCommand.describeExit(0)).isEqualTo("exit=0");
        assertThat(JvmCommand.describeExit(1)).isEqualTo("exit=1");
        assertThat(JvmCommand.describeExit(143)).isEqualTo("exit=143");
        assertThat(JvmCommand.describeExit(137)).startsWith("exit=137 (SIGKILL, ");
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
