package io.softdpu.samples;

import io.softdpu.core.Side;
import io.softdpu.core.memory.Buf;
import io.softdpu.core.sync.RemoteSyncEvent;
import io.softdpu.rdma.RdmaRemoteSyncEventGetTask;
import io.softdpu.rdma.RdmaRemoteSyncEventNotifySetTask;
import io.softdpu.rdma.RdmaTaskType;
import java.lang.foreign.ValueLayout;
import java.util.List;

/**
 * RDMA remote sync event, the side that makes a remote event from the responder's descriptor:
 * signals it, reads it until the responder has signalled, and announces completion. It has to poll:
 * only the owner of an event can wait for it.
 */
final class RdmaSyncEventRequester extends RdmaSample {
    /** Number of tasks of a run: a set, a get that is submitted again and again, and a set. */
    private static final int ALL_TASKS = 3;

    private static final long SET_OFFSET = 0;
    private static final long GET_OFFSET = Long.BYTES;

    @Override
    public String name() {
        return "rdma-sync-event-requester";
    }

    @Override
    public String summary() {
        return "Signals the sync event of rdma-sync-event-responder, and polls for its signal.";
    }

    @Override
    public String output() {
        return "The files to copy, the states of the context, and the value of each signal.";
    }

    @Override
    public String source() {
        return "running() signals; hasSet() and hasRead() go on, and hasRead() submits the read"
                + " again until the value has changed.";
    }

    @Override
    public List<SampleOption> options() {
        return RdmaSampleSettings.connecting(RdmaSampleSettings.PEER_EVENT);
    }

    @Override
    String exampleDescriptors() {
        return "-ld /tmp/requester -re /tmp/responder";
    }

    @Override
    Side side() {
        return Side.HOST;
    }

    @Override
    List<RdmaTaskType> tasks() {
        return List.of(
                RdmaTaskType.REMOTE_SYNC_EVENT_NOTIFY_SET, RdmaTaskType.REMOTE_SYNC_EVENT_GET);
    }

    @Override
    String peer() {
        return "rdma-sync-event-responder";
    }

    @Override
    SampleOption sharedDescriptor() {
        return RdmaSampleSettings.PEER_EVENT;
    }

    @Override
    void configure(RdmaProgram program) {
        program.rdma()
                .setRemoteSyncEventNotifySetTasks(
                        RdmaProgram.TASKS,
                        task -> hasSet(RdmaProgram.of(task), task),
                        task -> RdmaProgram.of(task).failed(task, task.source()))
                .setRemoteSyncEventGetTasks(
                        RdmaProgram.TASKS,
                        task -> hasRead(RdmaProgram.of(task), task),
                        task -> RdmaProgram.of(task).failed(task, task.destination()));
    }

    @Override
    void running(RdmaProgram program) {
        RemoteSyncEvent event = program.importEvent();
        program.print(RdmaSignals.line("signalling the remote sync event", RdmaSignals.SIGNAL));
        set(program, event, RdmaSignals.SIGNAL, ALL_TASKS);
    }

    private static void set(RdmaProgram program, RemoteSyncEvent event, long value, int remaining) {
        program.memory().set(ValueLayout.JAVA_LONG, SET_OFFSET, value);
        Buf source = program.inventory().bufByData(program.mmap(), SET_OFFSET, Long.BYTES);
        RdmaRemoteSyncEventNotifySetTask task =
                program.rdma()
                        .allocateRemoteSyncEventNotifySet(program.connection(), event, source);
        program.submit(task, remaining, source);
    }

    private void hasSet(RdmaProgram program, RdmaRemoteSyncEventNotifySetTask task) {
        program.succeeded(
                task,
                () -> {
                    if (task.userData() == ALL_TASKS) {
                        program.print("signalled, waiting for the signal of " + peer());
                        read(program, task.event());
                    } else {
                        program.print("completion is announced");
                    }
                },
                task.source());
    }

    private static void read(RdmaProgram program, RemoteSyncEvent event) {
        Buf destination = program.inventory().bufByAddress(program.mmap(), GET_OFFSET, Long.BYTES);
        RdmaRemoteSyncEventGetTask task =
                program.rdma().allocateRemoteSyncEventGet(program.connection(), event, destination);
        program.submit(task, ALL_TASKS - 1, destination);
    }

    /** The peer has not signalled as long as the value is that of this side. */
    private static void hasRead(RdmaProgram program, RdmaRemoteSyncEventGetTask task) {
        Buf destination = task.destination();
        long value = program.memory().get(ValueLayout.JAVA_LONG, GET_OFFSET);
        if (value == RdmaSignals.SIGNAL) {
            destination.resetDataLength(); // a get appends
            program.attempt(() -> program.submitQuietly(task, destination));
            return;
        }
        program.succeeded(
                task,
                () -> {
                    RdmaSignals.verify(value, RdmaSignals.ANSWER);
                    program.print(RdmaSignals.line("signalled by the peer", value));
                    program.print(
                            RdmaSignals.line("announcing completion", RdmaSignals.COMPLETION));
                    set(program, task.event(), RdmaSignals.COMPLETION, 1);
                },
                destination);
    }
}
