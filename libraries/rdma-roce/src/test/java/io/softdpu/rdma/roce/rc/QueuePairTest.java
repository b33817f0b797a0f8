package io.softdpu.rdma.roce.rc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.softdpu.core.Status;
import io.softdpu.core.check.Refusal;
import io.softdpu.core.copy.Copier;
import io.softdpu.rdma.roce.rc.QueuePair.State;
import io.softdpu.rdma.roce.simulation.TestHost;
import io.softdpu.rdma.roce.wire.Gid;
import io.softdpu.rdma.roce.wire.Headers;
import io.softdpu.rdma.roce.wire.Opcode;
import io.softdpu.rdma.roce.wire.Packet;
import io.softdpu.rdma.roce.wire.Syndrome;
import io.softdpu.rdma.spi.RnrTimer;
import io.softdpu.rdma.spi.WorkRequest;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The table of transitions: each state, each event. */
class QueuePairTest implements ReceiveListener, ConnectionEvents {
    private enum Event {
        PREPARE,
        CONNECT,
        PEER_IS_READY,
        SUBMIT,
        REQUEST,
        ANSWER,
        FATAL_REQUEST,
        FATAL_ANSWER,
        TIME,
        END
    }

    private static final long FOREVER = 1L << 40;
    private static final OutgoingPacket PACKET = new OutgoingPacket(1);

    private final List<String> log = new ArrayList<>();
    private final Agenda agenda = new Agenda(1);
    private final QueuePair queuePair =
            new QueuePair(
                    7,
                    null,
                    new Attachment(
                            this,
                            () -> null,
                            (key, address, bytes, right) -> null,
                            NO_KEYS,
                            new Copier(),
                            TestHost.ALL,
                            4,
                            RnrTimer.LONGEST),
                    Limits.defaults(1),
                    this,
                    agenda);

    private static final RemoteKeys NO_KEYS =
            new RemoteKeys() {
                @Override
                public int key(io.softdpu.core.spi.memory.RemoteMemory memory) {
                    return 0;
                }

                @Override
                public long address(io.softdpu.core.spi.memory.RemoteMemory memory) {
                    return 0;
                }
            };

    @ParameterizedTest
    @CsvSource({
        "IDLE,      PREPARE,       READY,     ''",
        "IDLE,      CONNECT,       CONNECTED, ''",
        "IDLE,      PEER_IS_READY, IDLE,      ''",
        "IDLE,      SUBMIT,        IDLE,      'refused'",
        "IDLE,      REQUEST,       IDLE,      ''",
        "IDLE,      ANSWER,        IDLE,      ''",
        "IDLE,      FATAL_REQUEST, IDLE,      ''",
        "IDLE,      FATAL_ANSWER,  IDLE,      ''",
        "IDLE,      TIME,          IDLE,      ''",
        "IDLE,      END,           ENDED,     ''",
        "READY,     PREPARE,       READY,     'thrown'",
        "READY,     CONNECT,       READY,     'thrown'",
        "READY,     PEER_IS_READY, CONNECTED, ''",
        "READY,     SUBMIT,        READY,     'refused'",
        "READY,     REQUEST,       CONNECTED, 'contacted,sent ACKNOWLEDGE'",
        "READY,     ANSWER,        CONNECTED, 'contacted'",
        "READY,     FATAL_REQUEST, ENDED,     'contacted,ended UNEXPECTED,sent ACKNOWLEDGE'",
        "READY,     FATAL_ANSWER,  CONNECTED, 'contacted'",
        "READY,     TIME,          READY,     ''",
        "READY,     END,           ENDED,     ''",
        "CONNECTED, PREPARE,       CONNECTED, 'thrown'",
        "CONNECTED, CONNECT,       CONNECTED, 'thrown'",
        "CONNECTED, PEER_IS_READY, CONNECTED, ''",
        "CONNECTED, SUBMIT,        CONNECTED, ''",
        "CONNECTED, REQUEST,       CONNECTED, 'sent ACKNOWLEDGE'",
        "CONNECTED, ANSWER,        CONNECTED, 'completed SUCCESS'",
        "CONNECTED, FATAL_REQUEST, ENDED,"
                + " 'completed CONNECTION_ABORTED,ended UNEXPECTED,sent ACKNOWLEDGE'",
        "CONNECTED, FATAL_ANSWER,  ENDED,     'completed IO_FAILED,ended IO_FAILED'",
        "CONNECTED, TIME,          ENDED," + " 'completed CONNECTION_RESET,ended CONNECTION_RESET'",
        "CONNECTED, END,           ENDED,     'completed SKIPPED'",
        "ENDED,     PREPARE,       ENDED,     'thrown'",
        "ENDED,     CONNECT,       ENDED,     'thrown'",
        "ENDED,     PEER_IS_READY, ENDED,     ''",
        "ENDED,     SUBMIT,        ENDED,     'refused'",
        "ENDED,     REQUEST,       ENDED,     ''",
        "ENDED,     ANSWER,        ENDED,     ''",
        "ENDED,     FATAL_REQUEST, ENDED,     ''",
        "ENDED,     FATAL_ANSWER,  ENDED,     ''",
        "ENDED,     TIME,          ENDED,     ''",
        "ENDED,     END,           ENDED,     ''"
    })
    void shouldGoFromStateToState(State from, Event event, State to, String happens) {
        switch (from) {
            case IDLE -> {}
            case READY -> on(Event.PREPARE);
            case CONNECTED -> {
                on(Event.CONNECT);
                on(Event.SUBMIT); // a send in flight
                transmit();
            }
            case ENDED -> {
                on(Event.CONNECT);
                on(Event.SUBMIT);
                on(Event.END);
            }
        }
        log.clear();
        on(event);
        transmit();
        log.remove("sent SEND_ONLY");
        assertThat(queuePair.state()).isEqualTo(to);
        assertThat(String.join(",", log)).isEqualTo(happens);
    }

    @Test
    void shouldEndByMemoryThatIsLost() {
        assertThat(queuePair.transmit(failing(new IllegalStateException("closed")), PACKET, 1, 0))
                .isZero();
        assertThat(log).containsExactly("completed IO_FAILED", "ended IO_FAILED");
    }

    @Test
    void shouldEndByADefectAndTellTheCaller() {
        UnsupportedOperationException defect = new UnsupportedOperationException("for the test");
        PacketSink failing = failing(defect);
        assertThatThrownBy(() -> queuePair.transmit(failing, PACKET, 1, 0)).isSameAs(defect);
        assertThat(log).containsExactly("completed IO_FAILED", "ended IO_FAILED");
    }

    /** A sink that fails at the send which the queue pair is to transmit next. */
    private PacketSink failing(RuntimeException failure) {
        on(Event.CONNECT);
        on(Event.SUBMIT);
        return new PacketSink() {
            @Override
            public boolean isReady() {
                return true;
            }

            @Override
            public void send(OutgoingPacket packet) {
                throw failure;
            }
        };
    }

    private void on(Event event) {
        switch (event) {
            case PREPARE -> connect(queuePair::prepare);
            case CONNECT -> connect(path -> queuePair.connect(path, 0));
            case PEER_IS_READY -> queuePair.connect(0);
            case SUBMIT -> {
                WorkRequest request =
                        new WorkRequest(
                                WorkRequest.Kind.SEND, status -> log.add("completed " + status), 1);
                if (Refusal.statusOf(queuePair.submit(request)) == Status.NOT_CONNECTED) {
                    log.add("refused");
                }
            }
            case REQUEST -> receive(Opcode.READ_REQUEST, 11, 0); // behind a gap
            case ANSWER -> receive(Opcode.ACKNOWLEDGE, 20, Syndrome.ACKNOWLEDGED);
            case FATAL_REQUEST -> receive(Opcode.SEND_LAST, 10, 0);
            case FATAL_ANSWER ->
                    receive(
                            Opcode.ACKNOWLEDGE,
                            20,
                            Syndrome.negative(Syndrome.REMOTE_OPERATIONAL_ERROR));
            case TIME -> {
                queuePair.expire(FOREVER);
            }
            case END -> queuePair.end(Status.SKIPPED);
        }
    }

    private void connect(Consumer<Path> call) {
        Path path =
                new Path(new Gid(0, 1), 9, 20, 10, 256, 1, 1, 1, 7, Path.DEFAULT_TIMEOUT_NANOS, 7);
        if (queuePair.state() == State.IDLE) {
            call.accept(path);
        } else {
            assertThatThrownBy(() -> call.accept(path))
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("state IDLE");
            log.add("thrown");
        }
    }

    private void receive(Opcode opcode, int psn, int syndrome) {
        MemorySegment memory = MemorySegment.ofArray(new byte[opcode.headerBytes() + 4]);
        Headers.writeBth(memory, 0, opcode, 0, 0, 7, true, psn);
        if (opcode == Opcode.ACKNOWLEDGE) {
            Headers.writeAeth(memory, 12, syndrome, 0);
        }
        Packet packet = new Packet();
        assertThat(packet.wrap(memory, 0, (int) memory.byteSize())).isNull();
        queuePair.receive(packet, 0);
    }

    private void transmit() {
        PacketSink sink =
                new PacketSink() {
                    @Override
                    public boolean isReady() {
                        return true;
                    }

                    @Override
                    public void send(OutgoingPacket packet) {
                        log.add("sent " + packet.opcode());
                    }
                };
        queuePair.transmit(sink, PACKET, 100, 0);
    }

    @Override
    public void received(QueuePair from, WorkRequest receive, Status status) {
        log.add("received " + status);
    }

    @Override
    public void contacted(QueuePair from, long nowNanos) {
        log.add("contacted");
    }

    @Override
    public void ended(QueuePair from, Status status, String reason, long nowNanos) {
        log.add("ended " + status);
    }
}
