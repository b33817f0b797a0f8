package io.softdpu.linux.text;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.channels.ClosedChannelException;
import java.nio.charset.MalformedInputException;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileSystemException;
import java.nio.file.NoSuchFileException;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Tests of the words for a cause. */
class ReasonTest {
    static Stream<Arguments> causes() {
        IOException plain = new IOException("broken");
        return Stream.of(
                Arguments.of(plain, "broken"),
                Arguments.of(new UncheckedIOException(plain), "broken"),
                Arguments.of(new ExecutionException(plain), "broken"),
                Arguments.of(new CompletionException(plain), "broken"),
                Arguments.of(new IllegalStateException(plain), "broken"),
                Arguments.of(new IllegalStateException("outer", plain), "outer"),
                Arguments.of(new NoSuchFileException("/a"), "it does not exist"),
                Arguments.of(new AccessDeniedException("/a"), "permission denied"),
                Arguments.of(new FileSystemException("/a", null, "it is a pipe"), "it is a pipe"),
                Arguments.of(new MalformedInputException(1), "it is not UTF-8"),
                Arguments.of(new ClosedChannelException(), "closed channel"),
                Arguments.of(new StackOverflowError(), "stack overflow error"));
    }

    @ParameterizedTest
    @MethodSource("causes")
    void shouldSayWhyInWords(Throwable cause, String words) {
        assertThat(Reason.of(cause)).isEqualTo(words);
    }

    @Test
    void shouldSayThatNoCauseIsKnown() {
        assertThat(Reason.of(null)).isEqualTo("unknown");
    }
}
