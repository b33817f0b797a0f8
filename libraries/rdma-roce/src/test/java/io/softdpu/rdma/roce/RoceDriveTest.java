package io.softdpu.rdma.roce;

import static org.assertj.core.api.Assertions.assertThat;

import io.softdpu.core.Side;
import io.softdpu.core.Status;
import io.softdpu.core.execution.ContextState;
import io.softdpu.rdma.RdmaConnection;
import io.softdpu.rdma.roce.nic.HeldNics;
import io.softdpu.rdma.roce.nic.NicFailures;
import io.softdpu.testkit.Await;
import io.softdpu.testkit.Patience;
import io.softdpu.testkit.SeededRandom;
import io.softdpu.testkit.Soak;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** NICs that programs and their threads drive by turns. */
class RoceDriveTest {
    private static final int BYTES = 64;

    /** Passes by which a program is known to poll. */
    private static final int PASSES = 1000;

    private static final int ROUNDS = 20;

    private static void connect(
            Party near, RdmaConnection toFar, Party far, RdmaConnection toNear) {
        near.connect(toFar, toNear.blob());
        far.connect(toNear, toFar.blob());
        Party.drive("connection", () -> isConnected(toFar) && isConnected(toNear), near, far);
    }

    private static boolean isConnected(RdmaConnection connection) {
        return connection.state() == RdmaConnection.State.CONNECTED;
    }

    /** NICs connect and disconnect without their programs, which see all of it in one pass. */
    @Test
    void shouldTellThatTheInstanceRunsBeforeTheEndOfAConnection(@TempDir Path folder) {
        try (Party near = new Party(folder, Side.TARGET);
                Party far = new Party(folder, Side.DPU)) {
            RdmaConnection toFar = near.export();
            RdmaConnection toNear = far.export();
            near.connect(toFar, toNear.blob());
            far.connect(toNear, toFar.blob());
            Party.drive("connection", () -> isConnected(toNear), far);
            toNear.disconnect();
            Party.drive("end", () -> isDisconnected(toNear), far);
            assertThat(isConnected(toFar)).as("before its program looks").isFalse();

            Party.drive("end", () -> isDisconnected(toFar), near);

            assertThat(near.states)
                    .containsExactly(
                            RdmaConnection.State.CONNECTING,
                            ContextState.STARTING,
                            RdmaConnection.State.CONNECTED,
                            ContextState.RUNNING,
                            RdmaConnection.State.DISCONNECTED);
        }
    }

    private static boolean isDisconnected(RdmaConnection connection) {
        return connection.state() == RdmaConnection.State.DISCONNECTED;
    }

    @Test
    void shouldServeAPeerWhenItsProgramStopsPolling(@TempDir Path folder) {
        try (Party near = new Party(folder, Side.TARGET);
                Party far = new Party(folder, Side.DPU)) {
            RdmaConnection toFar = near.export();
            connect(near, toFar, far, far.export());
            for (int i = 0; i < ROUNDS; i++) {
                assertThat(far.receive(BYTES)).isEqualTo(Status.SUCCESS);
            }
            for (int i = 0; i < ROUNDS; i++) {
                for (int pass = 0; pass < PASSES; pass++) {
                    far.engine.progress();
                }
                int received = far.results.size();
                assertThat(near.send(toFar, BYTES)).isEqualTo(Status.SUCCESS);
                BooleanSupplier sent = () -> !near.results.isEmpty();
                if (i % 2 == 0) {
                    near.sleepUntil("a send", sent);
                } else {
                    Await.byStep("a send", sent, near.engine::progress);
                }
                assertThat(near.results.remove()).isEqualTo(Status.SUCCESS);
                assertThat(far.results).as("no callback outside progress").hasSize(received);
            }
            Party.drive("all receives", () -> far.results.size() == ROUNDS, far);
            assertThat(far.results).containsOnly(Status.SUCCESS);
        }
    }

    /** Else it would never sleep beside a busy one. */
    @Test
    void shouldCountNoPacketsOfOtherInstancesAsProgress(@TempDir Path folder) {
        try (Party idle = new Party(folder, Side.TARGET);
                Party near = new Party(folder, Side.TARGET);
                Party far = new Party(folder, Side.DPU)) {
            RdmaConnection unused = idle.export();
            RdmaConnection toNear = far.export();
            connect(far, toNear, near, near.export());
            for (int i = 0; i < ROUNDS; i++) {
                assertThat(near.receive(BYTES)).isEqualTo(Status.SUCCESS);
            }
            Party.drive("receives are handed over", () -> !idle.engine.progress(), near);
            for (int i = 0; i < ROUNDS; i++) {
                for (int pass = 0; pass < PASSES; pass++) {
                    assertThat(idle.engine.progress()).isFalse();
                }
                assertThat(far.send(toNear, BYTES)).isEqualTo(Status.SUCCESS);
                Await.byStep(
                        "a send",
                        () -> !far.results.isEmpty(),
                        () -> {
                            assertThat(idle.engine.progress()).isFalse();
                            far.engine.progress();
                        });
                assertThat(far.results.remove()).isEqualTo(Status.SUCCESS);
            }
            assertThat(unused.state()).isEqualTo(RdmaConnection.State.EXPORTED);
        }
    }

    @Test
    void shouldSendWhatWasHandedOverWhenItsProgramStopsPolling(@TempDir Path folder) {
        try (Party near = new Party(folder, Side.TARGET);
                Party far = new Party(folder, Side.DPU)) {
            RdmaConnection toFar = near.export();
            connect(near, toFar, far, far.export());
            for (int i = 0; i < ROUNDS; i++) {
                assertThat(near.send(toFar, BYTES)).isEqualTo(Status.SUCCESS);
                near.engine.progress(); // the last: there is no receive yet, so it is repeated
                assertThat(far.receive(BYTES)).isEqualTo(Status.SUCCESS);
                far.sleepUntil("a message", () -> !far.results.isEmpty());
                assertThat(far.results.remove()).isEqualTo(Status.SUCCESS);
                near.sleepUntil("its end", () -> !near.results.isEmpty());
                assertThat(near.results.remove()).isEqualTo(Status.SUCCESS);
            }
        }
    }

    @Test
    void shouldLeaveWhatIsPublishedToTheOneThatDrives(@TempDir Path folder) {
        try (Party near = new Party(folder, Side.TARGET);
                Party far = new Party(folder, Side.DPU)) {
            RdmaConnection toFar = near.export();
            connect(near, toFar, far, far.export());
            assertThat(far.receive(BYTES)).isEqualTo(Status.SUCCESS);
            HeldNics.hold();
            try {
                assertThat(near.send(toFar, BYTES)).isEqualTo(Status.SUCCESS);
                for (int pass = 0; pass < PASSES; pass++) {
                    near.engine.progress(); // waits for nothing
                }
                assertThat(near.results).isEmpty();
            } finally {
                HeldNics.release();
            }
            // The sender's program drives no more.
            far.sleepUntil("a message", () -> !far.results.isEmpty());
            assertThat(far.results.remove()).isEqualTo(Status.SUCCESS);
            near.sleepUntil("its end", () -> !near.results.isEmpty());
            assertThat(near.results.remove()).isEqualTo(Status.SUCCESS);
        }
    }

    /** Two instances on each NIC, whose programs poll, sleep or compute as it comes. */
    @Test
    void shouldLoseNothingWhileDriversChange(@TempDir Path folder, SeededRandom random)
            throws Exception {
        int messages = Soak.count(300, 3_000, 100_000);
        List<CompletableFuture<Void>> ends = new ArrayList<>();
        for (int pair = 0; pair < 2; pair++) {
            CompletableFuture<byte[]> near = new CompletableFuture<>();
            CompletableFuture<byte[]> far = new CompletableFuture<>();
            CompletableFuture<Void> answered = new CompletableFuture<>();
            ends.add(answered);
            long seed = random.nextLong();
            ends.add(
                    start(
                            near,
                            () -> {
                                try (Program program = new Program(folder, Side.TARGET, seed)) {
                                    program.connect(near, far);
                                    program.ask(messages);
                                    get(answered);
                                }
                            }));
            CompletableFuture<Void> answers =
                    start(
                            far,
                            () -> {
                                try (Program program = new Program(folder, Side.DPU, seed + 1)) {
                                    program.connect(far, near);
                                    program.answer(messages);
                                    answered.complete(null);
                                }
                            });
            CompletableFuture<Void> _ =
                    answers.whenComplete((_, failure) -> {
                        if (failure != null) {
                            answered.completeExceptionally(failure);
                        }
                    });
            ends.add(answers);
        }
        for (CompletableFuture<Void> each : ends) {
            get(each);
        }
        assertThat(NicFailures.ofRunning()).isZero();
    }

    /** Runs on a thread of its own; a failure is also that of its blob, which the peer awaits. */
    private static CompletableFuture<Void> start(CompletableFuture<byte[]> blob, Runnable task) {
        CompletableFuture<Void> end = new CompletableFuture<>();
        Thread.ofPlatform()
                .start(() -> {
                    try {
                        task.run();
                        end.complete(null);
                    } catch (Throwable e) {
                        blob.completeExceptionally(e);
                        end.completeExceptionally(e);
                    }
                });
        return end;
    }

    private static <T> T get(CompletableFuture<T> future) {
        return future.orTimeout(Patience.SECONDS, TimeUnit.SECONDS).join();
    }

    /** Program with an instance and a connection, which waits in changing ways. */
    private static final class Program implements AutoCloseable {
        private final Party party;
        private final SplittableRandom random;
        private final RdmaConnection connection;

        Program(Path folder, Side side, long seed) {
            party = new Party(folder, side);
            random = new SplittableRandom(seed);
            connection = party.export();
        }

        void connect(CompletableFuture<byte[]> own, CompletableFuture<byte[]> peers) {
            own.complete(connection.blob());
            party.connect(connection, get(peers));
            await("connection", () -> isConnected(connection));
        }

        void ask(int messages) {
            for (int i = 0; i < messages; i++) {
                assertThat(party.receive(BYTES)).isEqualTo(Status.SUCCESS);
                assertThat(party.send(connection, BYTES)).isEqualTo(Status.SUCCESS);
                await("an answer", () -> party.results.size() == 2);
                assertThat(party.results.remove()).isEqualTo(Status.SUCCESS);
                assertThat(party.results.remove()).isEqualTo(Status.SUCCESS);
            }
        }

        void answer(int messages) {
            for (int i = 0; i < messages; i++) {
                assertThat(party.receive(BYTES)).isEqualTo(Status.SUCCESS);
                await("a message", () -> party.results.size() == 1);
                assertThat(party.results.remove()).isEqualTo(Status.SUCCESS);
                assertThat(party.send(connection, BYTES)).isEqualTo(Status.SUCCESS);
                await("the end of the answer", () -> party.results.size() == 1);
                assertThat(party.results.remove()).isEqualTo(Status.SUCCESS);
            }
        }

        private void await(String what, BooleanSupplier condition) {
            switch (random.nextInt(4)) {
                case 0 -> party.sleepUntil(what, condition);
                case 1 -> Await.byStep(what, condition, party.engine::progress);
                case 2 -> Await.byStep(what, condition, this::progressAndCompute);
                default -> {
                    party.engine.progress();
                    party.sleepUntil(what, condition);
                }
            }
        }

        private void progressAndCompute() {
            party.engine.progress();
            for (int i = random.nextInt(PASSES); i > 0; i--) {
                Thread.onSpinWait();
            }
        }

        @Override
        public void close() {
            party.close();
        }
    }
}
