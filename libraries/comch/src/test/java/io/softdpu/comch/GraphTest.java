package io.softdpu.comch;

import static org.assertj.core.api.Assertions.assertThat;

import io.softdpu.core.Status;
import io.softdpu.core.execution.Context;
import io.softdpu.core.execution.ContextState;
import io.softdpu.core.graph.Graph;
import io.softdpu.core.graph.GraphInstance;
import io.softdpu.core.graph.GraphNode;
import io.softdpu.core.graph.NodeState;
import io.softdpu.core.memory.Buf;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The tasks of the Comm Channel as nodes of graphs. */
class GraphTest extends FastPathFixture {
    private static final int BYTES = 64;
    private static final int NODES = 3;

    private final List<String> calls = new ArrayList<>();

    private void endOf(GraphInstance instance) {
        calls.add("end " + instance.status());
    }

    private void stopAtEnd(Context context) {
        card.atEnd(() -> Peer.stop(card, context));
        context.start();
        card.until("it runs", () -> context.state() == ContextState.RUNNING);
    }

    /** Both sides complete several tasks together, and call the program once for all of them. */
    @Test
    void shouldSendAndReceiveInGraphsWithoutCallbacks() {
        Card.Memory there = card.memory(pair.server().endpoint.device(), NODES * BYTES);
        ComchConsumer consumer =
                card.keep(ComchConsumer.create(pair.server().connection(), there.mmap()));
        card.dpuEngine.connect(consumer);
        consumer.setPostReceiveTasks(NODES, (tasks, count) -> calls.add("received " + count));
        stopAtEnd(consumer);
        Card.Memory here = card.memory(pair.client().endpoint.device(), NODES * BYTES);
        ComchProducer producer = card.keep(ComchProducer.create(pair.client().connection()));
        card.hostEngine.connect(producer);
        producer.setSendTasks(NODES, (tasks, count) -> calls.add("sent " + count));
        stopAtEnd(producer);
        card.until("buffers can be posted", () -> consumer.state() == ContextState.RUNNING);

        Graph receiving = Graph.create(card.dpuEngine);
        GraphNode[] receives = new GraphNode[NODES];
        GraphNode check =
                receiving.addUserNode(object -> {
                    calls.add("check");
                    return Status.SUCCESS;
                });
        for (int i = 0; i < NODES; i++) {
            receives[i] = receiving.addContextNode(consumer);
            receiving.addDependency(receives[i], check);
        }
        receiving.setCallbacks(this::endOf, this::endOf).start();
        Graph sending = Graph.create(card.hostEngine);
        GraphNode[] sends = new GraphNode[NODES];
        for (int i = 0; i < NODES; i++) {
            sends[i] = sending.addContextNode(producer);
        }
        sending.setCallbacks(this::endOf, this::endOf).start();

        GraphInstance receive = receiving.createInstance();
        GraphInstance send = sending.createInstance();
        List<ComchPostReceiveTask> posts = new ArrayList<>();
        List<ComchProducerSendTask> messages = new ArrayList<>();
        for (int i = 0; i < NODES; i++) {
            long offset = (long) i * BYTES;
            posts.add(
                    consumer.allocatePostReceiveTask(
                            there.inventory().bufByAddress(there.mmap(), offset, BYTES)));
            receive.setTask(receives[i], posts.get(i));
            here.shared().segment().set(ValueLayout.JAVA_BYTE, offset, (byte) (i + 1));
            Buf buf = here.inventory().bufByData(here.mmap(), offset, BYTES);
            messages.add(producer.allocateSendTask(buf, consumer.id()));
            send.setTask(sends[i], messages.get(i));
        }
        send.submit(); // before the buffers are posted: the nodes are refused for now
        card.settle();
        assertThat(send.state(sends[0])).isEqualTo(NodeState.WAITING);
        receive.submit();
        card.until("both have ended", () -> !send.isInFlight() && !receive.isInFlight());
        assertThat(calls).contains("check").containsOnlyOnce("check");
        assertThat(calls).filteredOn("end SUCCESS"::equals).hasSize(2);
        assertThat(calls).hasSize(3);
        for (int i = 0; i < NODES; i++) {
            assertThat(there.shared().segment().get(ValueLayout.JAVA_BYTE, (long) i * BYTES))
                    .isEqualTo((byte) (i + 1));
        }
        send.close();
        receive.close();
        sending.close();
        receiving.close();
        posts.forEach(post -> {
            post.buf().release();
            post.free();
        });
        messages.forEach(message -> {
            message.buf().release();
            message.free();
        });
    }

    @Test
    void shouldSendAMessageInAGraph() {
        ComchEndpoint client = pair.client().endpoint;
        int before = pair.server().messages.size();
        Graph graph = Graph.create(card.hostEngine);
        GraphNode node = graph.addContextNode(client);
        graph.setCallbacks(this::endOf, this::endOf).start();
        byte[] text = "in a graph".getBytes(StandardCharsets.UTF_8);
        ComchSendTask task = client.allocateSendTask(pair.client().connection());
        task.setMessage(MemorySegment.ofArray(text), 0, text.length);
        GraphInstance instance = graph.createInstance().setTask(node, task);
        for (int i = 0; i < 2; i++) {
            instance.submit();
            card.until("it has ended", () -> !instance.isInFlight());
        }
        card.until("both arrived", () -> pair.server().messages.size() == before + 2);
        assertThat(pair.server().messages.getLast()).isEqualTo(text);
        assertThat(calls).containsExactly("end SUCCESS", "end SUCCESS");
        assertThat(pair.client().sends).as("callbacks of tasks").isEmpty();
        instance.close();
        graph.close();
        task.free();
    }
}
