package io.softdpu.rdma.contract;

import static org.assertj.core.api.Assertions.assertThat;

import io.softdpu.core.Status;
import io.softdpu.core.execution.Task;
import io.softdpu.core.graph.Graph;
import io.softdpu.core.graph.GraphInstance;
import io.softdpu.core.graph.GraphNode;
import io.softdpu.core.memory.Buf;
import io.softdpu.core.memory.Mmap;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** RDMA tasks as nodes of graphs, for all providers. */
public abstract class RdmaGraphContract extends RdmaContract {
    private static final int BYTES = 4096;
    private static final int RUNS = 3;

    private final List<GraphInstance> instances = new ArrayList<>();
    private final List<Graph> graphs = new ArrayList<>();
    private final List<Task> tasks = new ArrayList<>();
    private final List<Buf> bufs = new ArrayList<>();
    private final List<Status> ends = new ArrayList<>();

    /** For subclasses. */
    protected RdmaGraphContract() {}

    @AfterEach
    final void closeGraphs() {
        instances.forEach(GraphInstance::close);
        graphs.forEach(Graph::close);
        tasks.forEach(Task::free);
        bufs.forEach(Buf::release);
    }

    private Graph graph(Peer of) {
        Graph graph = Graph.create(of.engine);
        graph.setCallbacks(ended -> ends.add(ended.status()), ended -> ends.add(ended.status()));
        graphs.add(graph);
        return graph;
    }

    private GraphInstance instance(Graph graph) {
        GraphInstance instance = graph.createInstance();
        instances.add(instance);
        return instance;
    }

    private <T extends Task> T kept(T task) {
        tasks.add(task);
        return task;
    }

    private Buf kept(Buf buf) {
        bufs.add(buf);
        return buf;
    }

    /** The far side receives in a graph of its own; the near one writes, reads back, then sends. */
    @Test
    void shouldRunOneAfterTheOther() {
        Pair pair = connected();
        Peer near = pair.near();
        Peer far = pair.far();
        Mmap remote = near.importRdma(far);
        Buf source = kept(near.data(0, BYTES));
        Buf target = kept(near.inventory.bufByAddress(remote, BYTES, BYTES));
        Buf written = kept(near.inventory.bufByData(remote, BYTES, BYTES));
        Buf back = kept(near.room(3L * BYTES, BYTES));
        Buf message = kept(near.data(3L * BYTES, BYTES));
        Buf inbox = kept(far.room(5L * BYTES, BYTES));

        Graph sending = graph(near);
        GraphNode write = sending.addContextNode(near.rdma);
        GraphNode read = sending.addContextNode(near.rdma);
        GraphNode send = sending.addContextNode(near.rdma);
        sending.addDependency(write, read).addDependency(read, send).start();
        GraphInstance out =
                instance(sending)
                        .setTask(write, kept(near.rdma.allocateWrite(pair.toFar(), source, target)))
                        .setTask(read, kept(near.rdma.allocateRead(pair.toFar(), written, back)))
                        .setTask(send, kept(near.rdma.allocateSend(pair.toFar(), message)));
        Graph receiving = graph(far);
        GraphNode receive = receiving.addContextNode(far.rdma);
        receiving.start();
        GraphInstance in =
                instance(receiving).setTask(receive, kept(far.rdma.allocateReceive(inbox)));

        for (int run = 0; run < RUNS; run++) {
            target.resetDataLength();
            back.resetDataLength();
            inbox.resetDataLength();
            near.fill(0, BYTES, run);
            in.submit();
            out.submit();
            Peer.drive(
                    "both instances end", () -> !out.isInFlight() && !in.isInFlight(), near, far);
            assertThat(far.mismatch(BYTES, BYTES, run)).as("written").isEqualTo(-1);
            assertThat(far.mismatch(5L * BYTES, BYTES, run))
                    .as("written, read and sent")
                    .isEqualTo(-1);
        }
        assertThat(ends).hasSize(2 * RUNS).containsOnly(Status.SUCCESS);
        assertThat(near.outcomes).as("callbacks of the tasks").isEmpty();
        assertThat(far.outcomes).as("callbacks of the tasks").isEmpty();
    }

    /** A receive that the stop of its instance flushes. */
    @Test
    void shouldFailWithTheTaskThatAStopFlushes() {
        Pair pair = connected();
        Peer far = pair.far();
        Graph graph = graph(far);
        GraphNode receive = graph.addContextNode(far.rdma);
        GraphNode never = graph.addUserNode(_ -> Status.SUCCESS);
        graph.addDependency(receive, never).start();
        Buf inbox = kept(far.room(0, BYTES));
        GraphInstance in = instance(graph).setTask(receive, kept(far.rdma.allocateReceive(inbox)));
        in.submit();
        far.rdma.stop();
        Peer.drive("the instance ends", () -> !in.isInFlight(), far, pair.near());
        assertThat(ends).containsExactly(in.status()).doesNotContain(Status.SUCCESS);
        assertThat(in.status(receive)).isEqualTo(in.status());
        assertThat(in.status(never)).isEqualTo(Status.SKIPPED);
        assertThat(far.outcomes).as("callbacks of the task").isEmpty();
    }
}
