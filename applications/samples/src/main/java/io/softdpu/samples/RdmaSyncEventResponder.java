package io.softdpu.samples;

import io.softdpu.core.DpuException;
import io.softdpu.core.Side;
import io.softdpu.core.Status;
import io.softdpu.core.execution.ContextState;
import io.softdpu.core.execution.Task;
import io.softdpu.core.memory.AccessFlag;
import io.softdpu.core.memory.Permissions;
import io.softdpu.core.sync.SyncEvent;
import io.softdpu.core.sync.SyncEventGetTask;
import io.softdpu.core.sync.SyncEventSetTask;
import io.softdpu.core.sync.SyncEventWaitTask;
import io.softdpu.linux.text.Text;
import io.softdpu.rdma.RdmaTaskType;
import java.util.List;

/**
 * RDMA remote sync event, the side that owns the event: exports it, waits until the requester has
 * signalled, signals itself, and waits for the requester's completion. It submits no task of RDMA;
 * its waits are tasks of the event, on the same engine, so they also end when the requester does.
 */
final class RdmaSyncEventResponder extends RdmaSample {
    @Override
    public String name() {
        return "rdma-sync-event-responder";
    }

    @Override
    public String summary() {
        return "Exports a sync event for rdma-sync-event-requester; each signals the other by it.";
    }

    @Override
    public String output() {
        return "The files to copy, the states of the context, and the value of each signal; no"
                + " message carries them.";
    }

    @Override
    public String source() {
        return "configure() grants the rights to read and set the event; isSignalled() goes on from"
                + " one signal to the next.";
    }

    @Override
    public List<SampleOption> options() {
        return RdmaSampleSettings.listening(RdmaSampleSettings.EXPORTED_EVENT);
    }

    @Override
    String exampleDescriptors() {
        return "-ld /tmp/responder -re /tmp/requester";
    }

    @Override
    Side side() {
        return Side.DPU;
    }

    @Override
    List<RdmaTaskType> tasks() {
        return List.of();
    }

    @Override
    String peer() {
        return "rdma-sync-event-requester";
    }

    @Override
    SampleOption sharedDescriptor() {
        return RdmaSampleSettings.EXPORTED_EVENT;
    }

    @Override
    void configure(RdmaProgram program) {
        program.rdma().setPermissions(Permissions.of(AccessFlag.RDMA_READ, AccessFlag.RDMA_WRITE));
        program.createEvent()
                .setWaitGreaterTasks(
                        RdmaProgram.TASKS,
                        task -> isSignalled(RdmaProgram.of(task), task),
                        task -> hasFailed(RdmaProgram.of(task), task))
                .setSetTasks(
                        RdmaProgram.TASKS,
                        task -> hasSet(RdmaProgram.of(task), task),
                        task -> hasFailed(RdmaProgram.of(task), task))
                .setGetTasks(
                        RdmaProgram.TASKS,
                        task -> hasReadAtTheEnd(RdmaProgram.of(task), task),
                        task -> hasFailed(RdmaProgram.of(task), task));
    }

    @Override
    void running(RdmaProgram program) {
        program.print("waiting for the signal of " + peer());
        awaitGreater(program, 0);
    }

    private static void awaitGreater(RdmaProgram program, long threshold) {
        program.submitQuietly(program.event().allocateWaitGreater(threshold, SyncEvent.ALL_BITS));
    }

    private static void isSignalled(RdmaProgram program, SyncEventWaitTask task) {
        long value = task.value();
        boolean isFirst = task.threshold() == 0;
        task.free();
        program.attempt(() -> {
            if (isFirst) {
                RdmaSignals.verify(value, RdmaSignals.SIGNAL);
                program.print(RdmaSignals.line("signalled by the peer", value));
                program.print(RdmaSignals.line("signalling the sync event", RdmaSignals.ANSWER));
                program.submitQuietly(program.event().allocateSet(RdmaSignals.ANSWER));
            } else {
                RdmaSignals.verify(value, RdmaSignals.COMPLETION);
                program.print(RdmaSignals.line("completed by the peer", value));
                program.endWithPeer();
            }
        });
    }

    private void hasSet(RdmaProgram program, SyncEventSetTask task) {
        task.free();
        program.attempt(() -> {
            program.print("signalled, waiting for the completion of " + peer());
            awaitGreater(program, RdmaSignals.ANSWER);
        });
    }

    /**
     * What the peer has set before it disconnected is there, but a wait for it may be reported
     * later.
     */
    @Override
    void disconnected(RdmaProgram program) {
        program.submitQuietly(program.event().allocateGet());
    }

    private void hasReadAtTheEnd(RdmaProgram program, SyncEventGetTask task) {
        long value = task.value();
        task.free();
        if (value != RdmaSignals.COMPLETION) {
            program.fail(
                    new DpuException(
                            Status.CONNECTION_RESET,
                            Text.format(
                                    "%s has ended without completion: value=%#x, expected=%#x",
                                    peer(), value, RdmaSignals.COMPLETION)));
        }
    }

    /** Tasks are flushed at the end of the run, which has its result then. */
    private static void hasFailed(RdmaProgram program, Task task) {
        Status status = task.status();
        task.free();
        if (program.event().state() != ContextState.STOPPING) {
            program.fail(new DpuException(status, "task of the sync event has failed"));
        }
    }
}
