package io.softdpu.comch;

import io.softdpu.core.Status;
import io.softdpu.linux.CountedCalls;
import io.softdpu.testkit.Await;
import io.softdpu.testkit.Patience;
import java.nio.file.Path;
import java.util.Map;
import java.util.TreeMap;

/**
 * A producer and a consumer on one thread, which prints the system calls that it makes: while both
 * poll, when the consumer has asked for a notification, and when it sleeps.
 */
public final class CountedSends {
    static final int MESSAGES = 20_000;
    private static final int BATCH = 32;
    private static final int BUFFER_BYTES = 1024;

    /** In the slot, and beside it. */
    private static final int[] LENGTHS = {8, 1000};

    private final Card card;
    private final Queue.Receiving receiving;
    private final Queue.Sending sending;
    private Map<String, Long> before = Map.of();

    private CountedSends(Card card) {
        this.card = card;
        Card.Pair pair = card.pair();
        receiving =
                new Queue.Receiving(pair.server(), card.dpuEngine, BATCH * BUFFER_BYTES, BATCH)
                        .run(card);
        sending =
                new Queue.Sending(pair.client(), card.hostEngine, BATCH * BUFFER_BYTES, BATCH)
                        .run(card);
        card.until("announced", () -> !pair.client().consumers.isEmpty());
    }

    /** Argument: a folder. */
    public static void main(String[] arguments) throws Exception {
        try (Card card = new Card(Path.of(arguments[0]))) {
            new CountedSends(card).run();
        }
    }

    private void run() {
        poll(BATCH); // what is done once, such as the release of the first doorbell's peek
        begin();
        poll(MESSAGES);
        end("polled");

        post(1);
        card.settle();
        card.dpuEngine.requestNotification();
        begin();
        send(1);
        card.hostEngine.progress();
        end("requested");

        begin();
        if (!card.dpuEngine.awaitNotification(Patience.LIMIT)) {
            throw new AssertionError("not notified");
        }
        end("slept");
        card.dpuEngine.clearNotification();
        card.until("received", () -> receiving.statuses.size() == 1);
    }

    private void begin() {
        before = CountedCalls.ofThisThread();
    }

    /** Prints the calls since the beginning. A copy is no system call. */
    private void end(String what) {
        Map<String, Long> calls = new TreeMap<>();
        CountedCalls.ofThisThread()
                .forEach((name, count) -> {
                    long more = count - before.getOrDefault(name, 0L);
                    if (more > 0 && !name.equals("memmove")) {
                        calls.put(name, more);
                    }
                });
        System.out.println(what + " " + calls);
    }

    private void poll(int messages) {
        for (int done = 0; done < messages; done += BATCH) {
            post(BATCH);
            send(BATCH);
            Await.byStep(
                    "received",
                    () -> receiving.statuses.size() == BATCH && sending.statuses.size() == BATCH,
                    this::pass);
            if (receiving.statuses.stream().anyMatch(status -> status != Status.SUCCESS)) {
                throw new AssertionError("not received: statuses=" + receiving.statuses);
            }
            receiving.done.clear();
            receiving.statuses.clear();
            receiving.data.clear();
            receiving.producers.clear();
            receiving.immediates.clear();
            sending.statuses.clear();
        }
    }

    /** Polls both engines once, and never sleeps. */
    private void pass() {
        card.hostEngine.progress();
        card.dpuEngine.progress();
    }

    private void post(int buffers) {
        for (int i = 0; i < buffers; i++) {
            require(receiving.post((long) i * BUFFER_BYTES, BUFFER_BYTES));
        }
    }

    private void send(int messages) {
        for (int i = 0; i < messages; i++) {
            byte[] data = new byte[LENGTHS[i % LENGTHS.length]];
            require(sending.send(receiving.consumer.id(), data, new byte[0]));
        }
    }

    private static void require(Status status) {
        if (status != Status.SUCCESS) {
            throw new AssertionError("not submitted: status=" + status);
        }
    }
}
