package io.softdpu.rdma.roce.rc;

import static org.assertj.core.api.Assertions.assertThat;

import io.softdpu.core.Status;
import io.softdpu.core.copy.Copier;
import io.softdpu.core.spi.memory.RemoteMemory;
import io.softdpu.rdma.roce.simulation.TestHost;
import io.softdpu.rdma.spi.RnrTimer;
import io.softdpu.rdma.spi.WorkRequest;
import io.softdpu.testkit.SeededRandom;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** The agenda beside a model of it, with queue pairs that have no peer. */
class AgendaTest implements ReceiveListener, ConnectionEvents {
    private static final int QUEUE_PAIRS = 13;
    private static final int STEPS = 20_000;

    /** Deadlines wrap, as those of a clock may. */
    private static final long START = Long.MAX_VALUE - 500_000;

    private static final RemoteKeys NO_KEYS =
            new RemoteKeys() {
                @Override
                public int key(RemoteMemory memory) {
                    return 0;
                }

                @Override
                public long address(RemoteMemory memory) {
                    return 0;
                }
            };

    private final Agenda agenda = new Agenda(QUEUE_PAIRS);
    private final List<QueuePair> queuePairs = new ArrayList<>();

    AgendaTest() {
        Attachment attachment =
                new Attachment(
                        this,
                        () -> null,
                        (key, address, bytes, right) -> null,
                        NO_KEYS,
                        new Copier(),
                        TestHost.ALL,
                        4,
                        RnrTimer.LONGEST);
        for (int i = 0; i < QUEUE_PAIRS; i++) {
            queuePairs.add(
                    new QueuePair(i + 2, null, attachment, Limits.defaults(1), this, agenda));
        }
    }

    @Test
    void shouldNameTheEarliestDeadlineAndExpireThoseThatHavePassedUpToALimit(SeededRandom random) {
        Map<QueuePair, Long> model = new HashMap<>();
        long now = START;
        for (int i = 0; i < STEPS; i++) {
            QueuePair queuePair = random.oneOf(queuePairs.toArray(QueuePair[]::new));
            switch (random.nextInt(8)) {
                case 0 -> {
                    agenda.remove(queuePair);
                    model.remove(queuePair);
                }
                case 1 -> {
                    now += random.nextInt(20_000);
                    int limit = random.nextInt(5);
                    agenda.expire(now, limit);
                    long until = now;
                    model.values().stream()
                            .filter(deadline -> until - deadline >= 0)
                            .sorted(Comparator.comparingLong(deadline -> deadline - until))
                            .limit(limit)
                            .toList()
                            .forEach(model.values()::remove);
                }
                default -> {
                    long deadline = now + 1 + random.nextInt(100_000);
                    while (model.containsValue(deadline)) { // of two at a time either may expire
                        deadline++;
                    }
                    agenda.schedule(queuePair, deadline);
                    model.merge(queuePair, deadline, (old, next) -> next - old < 0 ? next : old);
                }
            }
            assertThat(agenda.hasDeadline()).isEqualTo(!model.isEmpty());
            if (!model.isEmpty()) {
                long from = now;
                long least =
                        model.values().stream().mapToLong(each -> each - from).min().orElseThrow();
                assertThat(agenda.nextDeadline() - now).as("step %d", i).isEqualTo(least);
            }
        }
    }

    @Test
    void shouldServeQueuePairsByTurnsAndThoseThatHaveEndedFirst(SeededRandom random) {
        Deque<QueuePair> model = new ArrayDeque<>();
        List<QueuePair> urgent = new ArrayList<>();
        for (int i = 0; i < STEPS; i++) {
            QueuePair queuePair = random.oneOf(queuePairs.toArray(QueuePair[]::new));
            switch (random.nextInt(5)) {
                case 0 -> {
                    agenda.remove(queuePair);
                    model.remove(queuePair);
                    urgent.remove(queuePair);
                }
                case 1 -> {
                    assertThat(agenda.takeReady()).as("step %d", i).isSameAs(model.peek());
                    QueuePair taken = model.poll();
                    urgent.remove(taken);
                }
                case 2 -> {
                    agenda.addFirst(queuePair);
                    if (!urgent.contains(queuePair)) {
                        model.remove(queuePair);
                        model.addFirst(queuePair);
                        urgent.add(queuePair);
                    }
                }
                default -> {
                    agenda.add(queuePair);
                    if (!model.contains(queuePair)) {
                        model.addLast(queuePair);
                    }
                }
            }
            assertThat(agenda.ready()).isEqualTo(model.size());
            assertThat(agenda.isUrgent())
                    .isEqualTo(!model.isEmpty() && urgent.contains(model.peek()));
        }
    }

    @Override
    public void received(QueuePair queuePair, WorkRequest receive, Status status) {
        throw new AssertionError("no queue pair has a peer");
    }

    @Override
    public void contacted(QueuePair queuePair, long nowNanos) {
        throw new AssertionError("no queue pair has a peer");
    }

    @Override
    public void ended(QueuePair queuePair, Status status, String reason, long nowNanos) {
        throw new AssertionError("no queue pair has a connection");
    }
}
