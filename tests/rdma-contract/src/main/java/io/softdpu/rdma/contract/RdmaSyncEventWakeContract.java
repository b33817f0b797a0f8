package io.softdpu.rdma.contract;

import static org.assertj.core.api.Assertions.assertThat;

import io.softdpu.core.Side;
import io.softdpu.core.Status;
import io.softdpu.core.sync.RemoteSyncEvent;
import io.softdpu.core.sync.SyncEvent;
import io.softdpu.core.sync.SyncEventLocation;
import io.softdpu.rdma.RdmaConnection;
import io.softdpu.rdma.contract.FarProcess.FarProgram;
import io.softdpu.rdma.contract.ProgramProcess.Program;
import io.softdpu.testkit.Await;
import io.softdpu.testkit.Clause;
import io.softdpu.testkit.ProcessView;
import io.softdpu.testkit.Processes;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Processes that wait for a sync event which an RDMA peer updates: they are woken without any call
 * of RDMA by the program that exported the event.
 */
public abstract class RdmaSyncEventWakeContract extends RdmaProgramContract {

    /** For subclasses. */
    protected RdmaSyncEventWakeContract() {}

    /** Program with the event, and the connection to it. */
    private record Remote(FarProgram program, RdmaConnection connection, RemoteSyncEvent event) {}

    // ---- the process of the event ----

    @ParameterizedTest
    @ValueSource(strings = {"sync", "engine", "queue"})
    @Clause({"rdma-167", "rdma-175"})
    void shouldEndTheWaitsOfTheEventsProcess(String mode) {
        Peer near = openNear();
        Remote far = connect(near, run(Program.EVENT, mode));
        wait(far.program(), 0, mode);
        near.addEvent(far.connection(), far.event(), near.room(0, 8), 1, 1);
        assertThat(near.next().status()).isEqualTo(Status.SUCCESS);
        assertWoken(far.program(), 1);

        wait(far.program(), 4, mode);
        set(near, far, 4); // not enough: it goes on
        set(near, far, 5);
        assertWoken(far.program(), 5);
        near.stop();
    }

    private static void set(Peer near, Remote far, long value) {
        near.setWord(64, value);
        near.setEvent(far.connection(), far.event(), near.data(64, 8), 2);
        assertThat(near.next().status()).isEqualTo(Status.SUCCESS);
    }

    @ParameterizedTest
    @ValueSource(strings = {"engine", "queue"})
    void shouldLoseNoWakeUpOfManyUpdates(String mode) {
        Peer near = openNear();
        Remote far = connect(near, run(Program.EVENT, mode));
        for (int i = 0; i < 1000; i++) {
            far.program().tell(Integer.toString(i));
            near.addEvent(far.connection(), far.event(), near.room(0, 8), 1, i);
            assertThat(near.next().status()).isEqualTo(Status.SUCCESS);
            assertThat(near.word(0)).isEqualTo(i);
            assertWoken(far.program(), i + 1);
        }
        near.stop();
    }

    /**
     * Work completes in order, so an update behind a send may complete only when the program of the
     * event has received: which sleeps until the update. Then the connection ends; whether the two
     * had completed before depends on the provider.
     */
    @ParameterizedTest
    @CsvSource({"engine, false", "engine, true", "queue, false", "queue, true"})
    @Clause({"rdma-167", "rdma-175"})
    void shouldEndTheWaitsBehindASendThatTheSleeperHasToReceive(String mode, boolean adds) {
        Peer near = openConfigured(rdma -> rdma.setMaxConnections(2));
        Remote far = connect(near, run(Program.EVENT, mode));
        wait(far.program(), 0, mode);
        near.send(far.connection(), near.data(0, 64), 1);
        if (adds) {
            near.addEvent(far.connection(), far.event(), near.room(64, 8), 9, 2);
        } else {
            near.setWord(64, 9);
            near.setEvent(far.connection(), far.event(), near.data(64, 8), 2);
        }
        Peer.drive(
                "the event's process is woken",
                () -> far.program().hasPrinted(EventProgram.WOKEN + 9),
                near);
        far.connection().disconnect();
        Peer.drive("both complete", () -> near.outcomes.size() == 2, near);
        far.event().close();
    }

    @Test
    void shouldFailWithAResetWhenTheProcessOfTheEventIsKilled(Processes processes) {
        Peer near = openConfigured(rdma -> rdma.setMaxConnections(2));
        Remote far = connect(near, runIn(startProcess(processes), Program.EVENT, "sync"));
        far.program().process().kill();
        List<Status> statuses = new ArrayList<>();
        if (has(RdmaTrait.DEATH_IS_NOTICED_AT_ONCE)) {
            Await.until(
                    "the end of the process",
                    () -> {
                        near.engine.progress();
                        statuses.add(
                                near.getEvent(far.connection(), far.event(), near.room(0, 8), 1));
                        return statuses.getLast() != Status.SUCCESS;
                    });
            assertThat(statuses.getLast()).isEqualTo(Status.CONNECTION_RESET);
        } else {
            near.getEvent(far.connection(), far.event(), near.room(0, 8), 1);
            assertThat(near.next().status()).isNotEqualTo(Status.SUCCESS);
        }
    }

    // ---- the process of a DPU handle ----

    @ParameterizedTest
    @ValueSource(strings = {"sync", "engine", "queue"})
    @Clause({"rdma-167", "rdma-175"})
    void shouldEndTheWaitsOfADpuHandlesProcess(String mode) {
        Peer near = openNear();
        Peer host = add(Peer.open(environment(), folder(), Side.HOST));
        Pair pair = connect(near, host);
        SyncEvent event =
                SyncEvent.create(host.device)
                        .addPublisherLocation(SyncEventLocation.REMOTE)
                        .addSubscriberLocation(SyncEventLocation.DPU)
                        .start();
        host.closeLater(() -> Peer.end(event));
        RemoteSyncEvent remote = near.remoteEvent(host, event);
        FarProgram handle =
                run(Program.EVENT, mode, HexFormat.of().formatHex(event.exportPci(host.device)));
        handle.awaitLine(EventProgram.READY);
        for (int i = 0; i < 20; i++) {
            wait(handle, i, mode);
            near.addEvent(pair.toFar(), remote, near.room(0, 8), 1, i);
            assertThat(near.next().status()).isEqualTo(Status.SUCCESS);
            assertWoken(handle, i + 1);
        }
    }

    /** Several sleep, in one process and in another, and several remote events update. */
    @Test
    @Clause("rdma-175")
    void shouldEndTheWaitsOfAllByAnUpdateOfAnyRemoteEvent(Processes processes) {
        Peer near = openNear();
        Peer host = add(Peer.open(environment(), folder(), Side.HOST));
        Pair pair = connect(near, host);
        SyncEvent event =
                SyncEvent.create(host.device)
                        .addPublisherLocation(SyncEventLocation.REMOTE)
                        .addSubscriberLocation(SyncEventLocation.DPU)
                        .start();
        host.closeLater(() -> Peer.end(event));
        List<RemoteSyncEvent> updating =
                List.of(near.remoteEvent(host, event), near.remoteEvent(host, event));
        String blob = HexFormat.of().formatHex(event.exportPci(host.device));
        List<String> modes = List.of("engine", "queue", "queue");
        List<FarProgram> sleepers =
                List.of(
                        run(Program.EVENT, modes.get(0), blob),
                        run(Program.EVENT, modes.get(1), blob),
                        runIn(startProcess(processes), Program.EVENT, modes.get(2), blob));
        for (FarProgram sleeper : sleepers) {
            sleeper.awaitLine(EventProgram.READY);
        }
        for (int i = 0; i < 20; i++) {
            for (int j = 0; j < modes.size(); j++) {
                wait(sleepers.get(j), i, modes.get(j));
            }
            near.addEvent(pair.toFar(), updating.get(i % 2), near.room(0, 8), 1, i);
            assertThat(near.next().status()).isEqualTo(Status.SUCCESS);
            for (FarProgram sleeper : sleepers) {
                assertWoken(sleeper, i + 1);
            }
        }
    }

    // ---- programs ----

    private static Remote connect(Peer near, FarProgram program) {
        RdmaConnection connection = connectTo(near, program, EventProgram.READY);
        return new Remote(
                program, connection, near.remoteEvent(program.awaitBytes(PeerProgram.EVENT)));
    }

    /** Lets the program wait, and returns when it does: in event-driven modes, when it sleeps. */
    private static void wait(FarProgram program, long above, String mode) {
        program.tell(Long.toString(above));
        String thread = program.awaitBegin(EventProgram.WAITING + above + " ");
        if (mode.equals("sync")) {
            return;
        }
        Path stat =
                Path.of("/proc")
                        .resolve(Long.toString(program.process().pid()))
                        .resolve("task")
                        .resolve(thread)
                        .resolve("stat");
        Await.until(
                "the thread sleeps",
                () -> {
                    String text = ProcessView.text(stat);
                    return text.charAt(text.lastIndexOf(')') + 2) == 'S';
                });
    }

    private static void assertWoken(FarProgram program, long value) {
        program.awaitLine(EventProgram.WOKEN + value + "$");
    }
}
