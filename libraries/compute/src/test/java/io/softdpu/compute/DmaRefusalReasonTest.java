package io.softdpu.compute;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.core.execution.WorkQueue;
import io.softdpu.core.memory.AccessFlag;
import io.softdpu.core.memory.Buf;
import io.softdpu.core.memory.Mmap;
import io.softdpu.junit.SoftDpu;
import io.softdpu.junit.SoftDpuTest;
import io.softdpu.linux.text.Text;
import java.util.List;
import java.util.Objects;
import java.util.function.Function;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Reasons of refused copies, the same for tasks and jobs, and what to do about them. */
@SoftDpuTest(sanitized = false)
class DmaRefusalReasonTest {
    private static final int SIZE = 64 << 10;

    private DmaFixture fixture;
    private Mmap memory;

    /** The operands of a copy. */
    private record Operands(Buf source, Buf destination) {
        void release() {
            for (Buf buf : List.of(source, destination)) {
                if (buf.references() > 0) {
                    buf.release();
                }
            }
        }
    }

    @BeforeEach
    void open(SoftDpu card) {
        fixture = new DmaFixture(card.dpuDevice()).start(4);
        memory = fixture.local(SIZE);
    }

    @AfterEach
    void close() throws Exception {
        fixture.close();
    }

    private Operands operands(Buf source, Buf destination) {
        return new Operands(source, destination);
    }

    private static Arguments refusal(
            String name,
            Status status,
            List<String> parts,
            Function<DmaRefusalReasonTest, Operands> operands) {
        return Arguments.of(name, status, parts, operands);
    }

    static Stream<Arguments> refusals() {
        return Stream.of(
                refusal(
                        "source without data",
                        Status.INVALID_VALUE,
                        List.of(
                                "source has no data: source=buf[",
                                "dataLengthBytes=0",
                                "expected=Buf.setData or a buf by data"),
                        test ->
                                test.operands(
                                        test.fixture.destination(test.memory, 0, 64),
                                        test.fixture.destination(test.memory, 100, 64))),
                refusal(
                        "tailroom too small",
                        Status.INVALID_VALUE,
                        List.of(
                                "tailroom 64 < 65: destination=buf[",
                                "tailroomBytes=64",
                                "mmap=mmap[local",
                                "expected=tailroom for all the data"),
                        test ->
                                test.operands(
                                        test.fixture.source(test.memory, 0, 65),
                                        test.fixture.destination(test.memory, 100, 64))),
                refusal(
                        "source too long a list",
                        Status.INVALID_VALUE,
                        List.of(
                                "buf list is too long: listLength=65, buf=buf[",
                                "expected=64 at most, operand=source"),
                        test ->
                                test.operands(
                                        test.list(65, true),
                                        test.fixture.destination(test.memory, 8000, 1000))),
                refusal(
                        "destination too long a list",
                        Status.INVALID_VALUE,
                        List.of(
                                "buf list is too long: listLength=65, buf=buf[",
                                "expected=64 at most, operand=destination"),
                        test ->
                                test.operands(
                                        test.fixture.source(test.memory, 8000, 8),
                                        test.list(65, false))),
                refusal(
                        "destination read-only",
                        Status.NOT_PERMITTED,
                        List.of(
                                "mmap does not grant LOCAL_READ_WRITE: granted=[LOCAL_READ_ONLY]",
                                "expected=Mmap.setPermissions with it, before start",
                                "operand=destination"),
                        test ->
                                test.operands(
                                        test.fixture.source(test.memory, 0, 64),
                                        test.fixture.destination(
                                                test.fixture.mmap(4096, AccessFlag.LOCAL_READ_ONLY),
                                                0,
                                                64))),
                refusal(
                        "mmap of the source stopped",
                        Status.BAD_STATE,
                        List.of(
                                "mmap is not started: mmap=mmap[local, state=IDLE",
                                "expected=Mmap.start()",
                                "operand=source"),
                        test -> {
                            Mmap stopped = test.fixture.local(4096);
                            Buf source = test.fixture.source(stopped, 0, 64);
                            stopped.stop();
                            return test.operands(
                                    source, test.fixture.destination(test.memory, 0, 64));
                        }),
                refusal(
                        "source released",
                        Status.BAD_STATE,
                        List.of("buf was released: source=buf[released", "expected=a buf in use"),
                        test -> {
                            Buf released = test.fixture.source(test.memory, 0, 64);
                            Buf destination = test.fixture.destination(test.memory, 100, 64);
                            released.release();
                            return test.operands(released, destination);
                        }),
                refusal(
                        "destination released",
                        Status.BAD_STATE,
                        List.of("buf was released: destination=buf[released"),
                        test -> {
                            Buf released = test.fixture.destination(test.memory, 100, 64);
                            Buf source = test.fixture.source(test.memory, 0, 64);
                            released.release();
                            return test.operands(source, released);
                        }),
                refusal(
                        "one buf for both",
                        Status.IN_USE,
                        List.of(
                                "buf is in flight: usedAs=source, buf=buf[",
                                "expected=the completion of the task that has it",
                                "operand=destination"),
                        test -> {
                            Buf both = test.fixture.destination(test.memory, 0, 64);
                            both.setData(0, 16);
                            return test.operands(both, both);
                        }));
    }

    private Buf list(int elements, boolean withData) {
        Buf head = element(0, withData);
        for (int i = 1; i < elements; i++) {
            head.chain(element(i, withData));
        }
        return head;
    }

    private Buf element(int i, boolean withData) {
        return withData
                ? fixture.source(memory, i * 8L, 8)
                : fixture.destination(memory, i * 8L, 8);
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("refusals")
    void shouldNameReasonObjectActualAndExpectedOfATask(
            String name,
            Status status,
            List<String> parts,
            Function<DmaRefusalReasonTest, Operands> given) {
        Operands operands = given.apply(this);
        DmaMemcpyTask task = fixture.dma.allocateMemcpy(operands.source(), operands.destination());

        Status submitted = task.trySubmit();
        DpuException refusal = task.refusal();
        task.free();
        operands.release();

        assertThat(submitted).isEqualTo(status);
        assertThat(Objects.requireNonNull(refusal).status()).isEqualTo(status);
        assertThat(refusal.getMessage())
                .startsWith(parts.getFirst())
                .contains(parts)
                .endsWith(", task=DmaMemcpyTask, context=" + fixture.dma);
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("refusals")
    void shouldNameTheSameOfAJob(
            String name,
            Status status,
            List<String> parts,
            Function<DmaRefusalReasonTest, Operands> given) {
        Dma dma = fixture.add(Dma.create(fixture.device));
        dma.start();
        Operands operands = given.apply(this);
        DmaMemcpyJob job = dma.createMemcpyJob(operands.source(), operands.destination());
        try (WorkQueue queue = WorkQueue.create(1)) {
            queue.add(dma);
            assertThat(queue.trySubmit(job)).isEqualTo(status);
            assertThat(Objects.requireNonNull(job.refusal()).getMessage())
                    .startsWith(parts.getFirst())
                    .contains(parts)
                    .contains(", job=job[type=" + Dma.MEMCPY_JOB + ", context=" + dma);
        }
        operands.release();
    }

    @Test
    void shouldForgetTheReasonOfACopyThatIsAcceptedLater() {
        Buf source = fixture.source(memory, 0, 65);
        Buf destination = fixture.destination(memory, 100, 64);
        DmaMemcpyTask task = fixture.dma.allocateMemcpy(source, destination);
        assertThatThrownBy(task::submit).hasMessageStartingWith("tailroom 64 < 65: ");
        source.setDataLength(64);
        task.submit();
        assertThat(task.refusal()).isNull();
        fixture.awaitEnd();
        assertThat(task.refusal()).isNull();
        task.free();
        source.release();
        destination.release();
    }

    @Test
    void shouldNameTheSetterOfTasksThatAreMissing() {
        Dma dma = fixture.add(Dma.create(fixture.device));
        fixture.engine.connect(dma);
        assertThatThrownBy(dma::start)
                .hasMessage(
                        Text.format(
                                "mandatory item is missing: item=memcpy tasks, context=%s,"
                                        + " expected=setMemcpyTasks, before start",
                                dma));
    }
}
