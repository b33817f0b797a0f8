package io.softdpu.rdma.shm;

import static org.assertj.core.api.Assertions.assertThat;

import io.softdpu.core.Status;
import io.softdpu.core.execution.ContextState;
import io.softdpu.fabric.error.FabricException;
import io.softdpu.fabric.handshake.Attachment;
import io.softdpu.rdma.Rdma;
import io.softdpu.rdma.RdmaConnectionRequest;
import io.softdpu.testkit.Await;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/**
 * Requests that a listener has when it ends, and that were not reported to its program: it has more
 * of them than it reports in one pass of progress.
 */
class ShmUnreportedRequestsTest extends RogueFixture {
    private static final int MAX_CONNECTIONS = 5;

    /** Requests that may wait. */
    private static final int LIMIT = MAX_CONNECTIONS + 16;

    private final List<CompletableFuture<Attachment>> answers = new ArrayList<>();

    /** Sends as many requests as may wait; the listener has them, and has not progressed. */
    private void fill() {
        for (int i = 0; i <= LIMIT; i++) {
            answers.add(rogue.send(RogueBus.nameOf(device), rogue.request(device)));
        }
        Await.until("the bus refuses the last one that arrives", () -> refused() == 1);
        answers.removeIf(CompletableFuture::isDone);
    }

    private int refused() {
        return (int) answers.stream().filter(CompletableFuture::isDone).count();
    }

    /** Waits without progress; the end of a request's time is no refusal. */
    private void awaitRefusals(int count, String... reasons) {
        Await.until(count + " refusals", () -> refused() >= count);
        assertThat(answers)
                .filteredOn(CompletableFuture::isDone)
                .hasSize(count)
                .allSatisfy(answer ->
                        assertThat(answer.exceptionNow())
                                .isInstanceOfSatisfying(
                                        FabricException.class,
                                        e ->
                                                assertThat(Status.ofCode(e.refusalCode()))
                                                        .isEqualTo(Status.CONNECTION_ABORTED))
                                .message()
                                .containsAnyOf(reasons));
    }

    /** Makes one pass of progress, in which some are reported, and others are not. */
    private int reportSome() {
        engine.progress();
        assertThat(requests).hasSizeBetween(1, LIMIT - 1);
        return requests.size();
    }

    @Test
    void shouldBeRefusedAtOnceWhenItStopsListening() {
        Rdma rdma = listener(MAX_CONNECTIONS);
        fill();
        int reported = reportSome();

        rdma.stopListening(PORT);

        awaitRefusals(LIMIT - reported, "listener has released the port: port=" + PORT);
        assertThat(requests).allMatch(RdmaConnectionRequest::isPending);
    }

    @Test
    void shouldBeRefusedAtOnceWhenTheInstanceStops() {
        Rdma rdma = listener(MAX_CONNECTIONS);
        fill();
        int _ = reportSome();

        rdma.stop();

        assertThat(rdma.state()).isEqualTo(ContextState.IDLE);
        awaitRefusals(LIMIT, "listener has released the port", "listener is stopping");
        assertThat(requests).noneMatch(RdmaConnectionRequest::isPending);
    }

    @Test
    void shouldBeRefusedWhenTheCallbackOfAnotherStopsListening() {
        listener(
                MAX_CONNECTIONS,
                rdma ->
                        rdma.setConnectionRequestCallback(request -> {
                            requests.add(request);
                            rdma.stopListening(PORT);
                        }));
        fill();

        engine.progress();

        awaitRefusals(LIMIT - 1, "listener has released the port: port=" + PORT);
        assertThat(requests).singleElement().matches(RdmaConnectionRequest::isPending);
    }

    @Test
    void shouldBeRefusedWhenTheCallbackOfAnotherStopsTheInstance() {
        Rdma stopping =
                listener(
                        MAX_CONNECTIONS,
                        rdma ->
                                rdma.setConnectionRequestCallback(request -> {
                                    requests.add(request);
                                    rdma.stop();
                                }));
        fill();

        until("it has stopped", () -> stopping.state() == ContextState.IDLE);

        awaitRefusals(LIMIT, "listener has released the port", "listener is stopping");
        assertThat(requests).as("reported").hasSize(1);
    }

    /** As they are left by a program that makes no progress any more. */
    @Test
    void shouldBeRefusedWhenTheEngineIsClosedBeforeItHasProgressed() {
        Rdma rdma = listener(MAX_CONNECTIONS);
        fill();
        rdma.stop();

        engine.close();

        awaitRefusals(LIMIT, "listener has released the port: port=" + PORT);
        assertThat(requests).isEmpty();
    }
}
