package io.softdpu.api;

import io.softdpu.comch.ComchPostReceiveTask;
import io.softdpu.comch.ComchProducerSendTask;
import io.softdpu.core.Status;
import io.softdpu.core.execution.Task;
import io.softdpu.core.memory.Buf;
import io.softdpu.rdma.RdmaWriteTask;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Function;

/**
 * Submissions of the data path, each as the second of its kind, for a {@link RecordingLoader}:
 * gives the objects of each by its name.
 */
final class RecordedSubmissions implements Function<Path, Map<String, List<String>>> {
    @Override
    public Map<String, List<String>> apply(Path folder) {
        try (Environment environment = new Environment(folder);
                FixtureScope scope = new FixtureScope(environment)) {
            return Map.of("message", message(scope), "write", write(scope));
        } catch (RuntimeException e) {
            throw e;
        } catch (Exception e) {
            throw new AssertionError("resources cannot be closed", e);
        }
    }

    /** A message of 32 bytes of the Comm Channel. */
    private static List<String> message(FixtureScope scope) {
        ComchFixtures.Flow flow = ComchFixtures.flow(scope);
        ComchProducerSendTask send =
                scope.keep(
                        flow.producer()
                                .allocateSendTask(
                                        scope.buf(scope.environment.pf0, 32, 32),
                                        flow.consumer().id()));
        send.submit();
        scope.until(
                "received",
                () -> flow.producer().inFlightTasks() == 0 && flow.consumer().inFlightTasks() == 0);
        ComchPostReceiveTask receive = flow.posted();
        Objects.requireNonNull(receive.buf()).resetDataLength();
        receive.submit();
        scope.until("posted", () -> !scope.progress());
        List<String> passed = submission(send);
        scope.until("received", () -> flow.consumer().inFlightTasks() == 0);
        return passed;
    }

    /** An RDMA write of 8 bytes. */
    private static List<String> write(FixtureScope scope) {
        FixtureScope.Link link = scope.link();
        Buf remote = scope.buf(scope.remoteMemory(), 64, 0);
        Buf local = scope.buf(scope.environment.p0, 64, 8);
        RdmaWriteTask write = scope.keep(link.near().allocateWrite(link.here(), local, remote));
        write.submit();
        scope.until("written", () -> link.near().inFlightTasks() == 0);
        List<String> passed = submission(write);
        scope.until("written", () -> link.near().inFlightTasks() == 0);
        return passed;
    }

    private static List<String> submission(Task task) {
        Status[] submitted = new Status[1];
        List<String> passed = PassedObjects.of(() -> submitted[0] = task.trySubmit());
        if (submitted[0] != Status.SUCCESS) {
            throw new AssertionError("was not accepted: task=" + task, task.refusal());
        }
        return passed;
    }
}
