package io.softdpu.comch;

import static org.assertj.core.api.Assertions.assertThat;

import io.softdpu.linux.CountedCalls;
import io.softdpu.linux.text.Text;
import io.softdpu.testkit.ChildProcess;
import io.softdpu.testkit.JavaCommand;
import io.softdpu.testkit.Processes;
import io.softdpu.testkit.StartsProcesses;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** System calls of the fast path, in a JVM that counts them. */
@StartsProcesses
class CountedSendsTest {

    @Test
    void shouldMakeNoSystemCallForAConsumerThatPolls(@TempDir Path folder, Processes processes) {
        ChildProcess program =
                processes.start(
                        JavaCommand.ofClass(CountedSends.class)
                                .withJvmOptions("-D" + CountedCalls.PROPERTY + "=true")
                                .withArguments(folder.toString()));
        int status = program.awaitExit();
        System.out.println(
                Text.format(
                        "system calls for %d messages: %s",
                        CountedSends.MESSAGES, program.outputLines()));
        assertThat(status).as("%s", program.errorLines()).isZero();
        assertThat(program.outputLines())
                .startsWith("polled {}", "requested {send=1}")
                .element(2)
                .asString()
                .startsWith("slept {epoll_wait=");
    }
}
