package io.softdpu.comch;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.core.device.Device;
import io.softdpu.core.device.Representor;
import io.softdpu.core.execution.Context;
import io.softdpu.core.execution.ContextState;
import io.softdpu.core.execution.ProgressEngine;
import io.softdpu.testkit.Patience;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** Server or client that records the calls of its callbacks, and is stopped with its card. */
final class Peer {
    final Card card;
    final ComchEndpoint endpoint;
    final List<String> events = new ArrayList<>();
    final List<byte[]> messages = new ArrayList<>();
    final List<ComchConnection> messageConnections = new ArrayList<>();
    final List<Status> sends = new ArrayList<>();
    final List<Integer> consumers = new ArrayList<>();
    final List<ComchConnection> consumerConnections = new ArrayList<>();
    final List<ComchConnection> connectionsOfEvents = new ArrayList<>();
    final List<ContextState> states = new ArrayList<>();

    /** Of the server's refusals and disconnects; null for orderly ones. */
    final List<DpuException> reasons = new ArrayList<>();

    ComchConnection connection;

    private Peer(Card card, ComchEndpoint endpoint, ProgressEngine engine) {
        this.card = card;
        this.endpoint = card.keep(endpoint);
        engine.connect(endpoint);
        endpoint.setStateChangedCallback((context, from, to) -> states.add(to));
        endpoint.setControlTimeout(Patience.LIMIT);
        if (endpoint instanceof ComchClient client) {
            client.setConnectTimeout(Patience.LIMIT);
        }
        endpoint.setSendTasks(32, this::sent, this::sent);
        endpoint.setMessageCallback(this::received);
        endpoint.setConsumerCallbacks(
                (from, id) -> {
                    consumers.add(id);
                    consumerConnections.add(from);
                    events.add("consumer " + id);
                },
                (from, id) -> {
                    consumers.remove(Integer.valueOf(id));
                    consumerConnections.add(from);
                    events.add("expired " + id);
                });
        card.atEnd(() -> stop(card, endpoint));
    }

    static Peer server(Card card, String name) {
        return server(card, name, card.hpf0);
    }

    static Peer server(Card card, String name, Representor representor) {
        ComchServer server = ComchServer.create(representor.device(), representor, name);
        Peer peer = new Peer(card, server, card.dpuEngine);
        server.setConnectedCallback(connection -> {
            peer.events.add("connected true");
            peer.connectionsOfEvents.add(connection);
            peer.connection = connection;
        });
        server.setRefusedCallback((connection, reason) -> {
            peer.events.add("connected false");
            peer.connectionsOfEvents.add(connection);
            peer.reasons.add(reason);
        });
        server.setDisconnectedCallback((connection, reason) -> {
            peer.events.add("disconnected " + (reason == null));
            peer.connectionsOfEvents.add(connection);
            peer.reasons.add(reason);
        });
        return peer;
    }

    static Peer client(Card card, String name) {
        return client(card, name, card.pf0);
    }

    static Peer client(Card card, String name, Device device) {
        return client(card, name, device, card.hostEngine);
    }

    static Peer client(Card card, String name, Device device, ProgressEngine engine) {
        return new Peer(card, ComchClient.create(device, name), engine);
    }

    /** Ends waits for replies on a connection soon that begin from now on: none comes. */
    static void limitReplies(ComchConnection connection) {
        connection.services().limitReplies(TimeUnit.MILLISECONDS.toNanos(100));
    }

    /** The connection of either side. */
    ComchConnection connection() {
        return endpoint instanceof ComchClient client ? client.connection() : connection;
    }

    /** Submits a message in a task that frees itself. */
    Status send(String text) {
        return send(text.getBytes(StandardCharsets.UTF_8));
    }

    Status send(byte[] message) {
        ComchSendTask task = endpoint.allocateSendTask(connection());
        task.setMessage(message);
        Status submitted = task.trySubmit();
        if (submitted != Status.SUCCESS) {
            task.free();
        }
        return submitted;
    }

    List<String> texts() {
        return messages.stream().map(m -> new String(m, StandardCharsets.UTF_8)).toList();
    }

    /** Brings a context to IDLE from any state. */
    static void stop(Card card, Context context) {
        // A test may have stopped and closed it; then there is nothing to wait for.
        if (context.state() == ContextState.STARTING || context.state() == ContextState.RUNNING) {
            context.stop();
        }
        card.until("idle: " + context, () -> context.state() == ContextState.IDLE);
    }

    private void sent(ComchSendTask task) {
        sends.add(task.status());
        task.free();
    }

    private void received(ComchConnection from, MemorySegment message) {
        messages.add(message.toArray(ValueLayout.JAVA_BYTE));
        messageConnections.add(from);
    }
}
