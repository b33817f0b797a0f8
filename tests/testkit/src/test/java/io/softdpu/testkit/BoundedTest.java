package io.softdpu.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class BoundedTest {

    @TempDir Path folder;

    @Test
    void shouldReturnAndThrowWhatTheCallsDo() throws Exception {
        assertThat(Bounded.callAll("calls", 3, () -> "done"))
                .containsExactly("done", "done", "done");
        assertThatThrownBy(() ->
                        Bounded.call(
                                "failure",
                                () -> {
                                    throw new IOException("thrown");
                                }))
                .isInstanceOf(IOException.class)
                .hasMessage("thrown");
    }

    @Test
    void shouldFailAtTheDeadlineWhereACallHangsInAPipe() throws Exception {
        CountDownLatch returned = new CountDownLatch(1);
        try (NamedPipe pipe = NamedPipe.create(folder.resolve("pipe"))) {
            assertThatThrownBy(() ->
                            Bounded.callAll(
                                    "reading a pipe",
                                    1,
                                    Duration.ofMillis(200),
                                    () -> {
                                        try (InputStream in = Files.newInputStream(pipe.path())) {
                                            return in.read();
                                        } finally {
                                            returned.countDown();
                                        }
                                    }))
                    .isInstanceOf(AssertionError.class)
                    .hasMessage("hangs: what=reading a pipe, deadline=PT0.2S");
            // A call that comes to the pipe later than the deadline is to find a peer, too.
            Await.until(
                    "the open of the pipe returns",
                    () -> {
                        pipe.release();
                        return returned.getCount() == 0;
                    });
        }
        assertThat(returned.await(Patience.SECONDS, TimeUnit.SECONDS)).isTrue();
    }
}
