package io.softdpu.comch;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.softdpu.core.DpuException;
import io.softdpu.core.Side;
import io.softdpu.core.Status;
import io.softdpu.testkit.ChildProcess;
import io.softdpu.testkit.JavaCommand;
import io.softdpu.testkit.Patience;
import io.softdpu.testkit.Processes;
import io.softdpu.testkit.Smoke;
import io.softdpu.testkit.StartsProcesses;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Streams to another process, which ends in order or is killed. */
@StartsProcesses
class StreamProcessTest {
    @TempDir Path folder;

    @Smoke
    @Test
    void shouldExchangeMessagesWithAnotherProcess(Processes processes) {
        ChildProcess server = start(processes);
        try (StreamPeer peer = new StreamPeer(Side.HOST, folder)) {
            ComchStream stream = peer.stream(peer.connection());
            for (int i = 0; i < 1000; i++) {
                stream.claim(Patience.LIMIT).send(i);
                try (ComchReceiveBuffer reply = stream.receive(Patience.LIMIT)) {
                    assertThat(reply.length()).isEqualTo(i);
                }
            }
            stream.close();
            server.awaitLine("ended null");
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void shouldEndWithConnectionResetWhenThePeerIsKilled(
            boolean whileItSends, Processes processes) {
        ChildProcess server = start(processes);
        StreamPeer peer = new StreamPeer(Side.HOST, folder);
        ComchStream stream = peer.stream(peer.connection());
        server.awaitLine("running");
        if (whileItSends) {
            server.freeze();
        }
        assertThatThrownBy(
                        () -> {
                            if (!whileItSends) {
                                server.kill();
                                stream.receive(Patience.LIMIT);
                                return;
                            }
                            for (int i = 0; ; i++) { // until all buffers are in use
                                if (i == 8) {
                                    server.kill();
                                }
                                stream.claim(Patience.LIMIT).send(i);
                            }
                        })
                .isInstanceOfSatisfying(
                        DpuException.class,
                        e -> assertThat(e.status()).isEqualTo(Status.CONNECTION_RESET));
        assertThat(stream.undeliveredMessages()).isEqualTo(whileItSends ? 4 : 0);
        stream.close();
        peer.close();
    }

    @Test
    void shouldCloseThoughThePeerIsFrozen(Processes processes) {
        ChildProcess server = start(processes);
        StreamPeer peer = new StreamPeer(Side.HOST, folder);
        ComchStream stream = peer.stream(peer.connection());
        server.awaitLine("running");
        server.freeze();
        for (int i = 0; i < 8; i++) { // half of them wait for buffers of the peer
            stream.claim(Patience.LIMIT).send(0);
        }
        Peer.limitReplies(peer.connection());
        stream.close(); // throws if it does not end within the limit of close()
        assertThat(stream.undeliveredMessages()).isEqualTo(4);
        server.kill();
        peer.close();
    }

    private ChildProcess start(Processes processes) {
        ChildProcess server =
                processes.start(
                        JavaCommand.ofClass(StreamPeer.class).withArguments(folder.toString()));
        server.awaitLine("ready");
        return server;
    }
}
