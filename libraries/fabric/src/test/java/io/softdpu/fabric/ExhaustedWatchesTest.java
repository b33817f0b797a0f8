package io.softdpu.fabric;

import static org.assertj.core.api.Assertions.assertThat;

import io.softdpu.fabric.error.RefuseCode;
import io.softdpu.fabric.handshake.Endpoint;
import io.softdpu.fabric.handshake.EndpointProbe;
import io.softdpu.fabric.wire.Frame;
import io.softdpu.linux.FileDescriptors;
import io.softdpu.testkit.Patience;
import io.softdpu.testkit.ReplacedEpoll;
import java.nio.file.Path;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Served names while the limit of epoll watches of this user is reached. */
final class ExhaustedWatchesTest {
    private static final String NAME = "name";

    @TempDir Path folder;
    private Bus bus;
    private Endpoint endpoint;

    @BeforeEach
    void serve() {
        bus =
                Bus.open(
                        new Bus.Config(
                                folder.resolve("fabric"),
                                new byte[32],
                                "t",
                                Patience.NANOS,
                                1 << 20,
                                Long.MAX_VALUE,
                                Long.MAX_VALUE));
        endpoint = bus.listen(NAME, pending -> pending.refuse(16, "served"));
    }

    @AfterEach
    void close() {
        bus.close();
    }

    /** Runs something on the bus thread, within one turn. */
    private void onBusThread(Runnable work) throws Exception {
        CompletableFuture<?> done = new CompletableFuture<>();
        bus.threads()
                .loop()
                .execute(() -> {
                    try {
                        work.run();
                        done.complete(null);
                    } catch (RuntimeException e) {
                        done.completeExceptionally(e);
                    }
                });
        done.get(Patience.SECONDS, TimeUnit.SECONDS);
    }

    @Test
    void shouldRefuseAClientThatCannotBeWatchedAndServeTheNextAfterAPause() throws Exception {
        HostilePeer[] clients = new HostilePeer[2];
        try {
            onBusThread(() -> {
                clients[0] = HostilePeer.connect(bus, NAME);
                clients[1] = HostilePeer.connect(bus, NAME);
                try (ReplacedEpoll _ = new ReplacedEpoll(bus.threads().loop().epollDescriptor())) {
                    EndpointProbe.accept(endpoint);
                }
            });

            assertThat(clients[0].receive())
                    .isInstanceOfSatisfying(
                            Frame.Refuse.class,
                            refuse -> {
                                assertThat(refuse.code()).isEqualTo(RefuseCode.OPERATING_SYSTEM);
                                assertThat(refuse.text())
                                        .startsWith("server cannot watch a further client: ")
                                        .endsWith("limit=fs.epoll.max_user_watches of this user");
                            });
            clients[0].awaitEnd();
            requireServed(clients[1]);
        } finally {
            for (HostilePeer client : clients) {
                if (client != null) {
                    client.close();
                }
            }
        }
    }

    @Test
    void shouldPauseAgainWhereTheNameItselfCannotBeWatched() throws Exception {
        onBusThread(() -> {
            EndpointProbe.pause(endpoint);
            try (ReplacedEpoll _ = new ReplacedEpoll(bus.threads().loop().epollDescriptor())) {
                EndpointProbe.watch(endpoint);
            }
        });

        try (HostilePeer client = HostilePeer.connect(bus, NAME)) {
            requireServed(client);
        }
    }

    private static void requireServed(HostilePeer client) {
        int memory = BadDescriptor.good(4096);
        try {
            client.send(new Frame.Hello(4096, new byte[0]), memory);
        } finally {
            FileDescriptors.close(memory);
        }
        assertThat(client.receive()).isEqualTo(new Frame.Refuse(16, "served"));
    }
}
