package io.softdpu.compute;

import static org.assertj.core.api.Assertions.assertThat;

import io.softdpu.core.Status;
import io.softdpu.core.execution.Sanitizer;
import io.softdpu.core.execution.SanitizerReport;
import io.softdpu.core.memory.Buf;
import io.softdpu.core.memory.Mmap;
import io.softdpu.junit.SoftDpu;
import io.softdpu.junit.SoftDpuTest;
import io.softdpu.testkit.SeededRandom;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Hashes under the sanitizer: its findings, and results that are the same. */
@SoftDpuTest(sanitized = false)
class ShaSanitizedTest {
    private final List<SanitizerReport> reports = new ArrayList<>();
    private Sanitizer sanitizer;
    private ShaFixture fixture;

    @BeforeEach
    void open(SoftDpu card, SeededRandom random) {
        sanitizer = Sanitizer.start(random.nextLong());
        sanitizer.setListener(reports::add);
        fixture = new ShaFixture(card.dpuDevice()).start(4);
    }

    @AfterEach
    void close() throws Exception {
        fixture.close();
        sanitizer.close();
    }

    private void submit(ShaHashTask task) {
        while (task.trySubmit() == Status.AGAIN) {
            fixture.engine.progress();
        }
    }

    @Test
    void shouldReportASourceThatIsChangedInFlight() {
        Mmap memory = fixture.memoryOf(new byte[100]);
        Mmap digests = fixture.base.local(64);
        Buf source = fixture.base.source(memory, 0, 100);
        Buf destination = fixture.base.destination(digests, 0, 32);
        ShaHashTask task = fixture.sha.allocateHash(ShaAlgorithm.SHA256, source, destination);
        submit(task);
        memory.segment().set(ValueLayout.JAVA_BYTE, 99, (byte) 1);
        fixture.awaitEnd();
        task.free();
        source.release();
        destination.release();
        assertThat(reports)
                .extracting(SanitizerReport::kind)
                .containsExactly(SanitizerReport.Kind.SOURCE_CHANGED);
    }

    @Test
    void shouldPoisonTheRoomForTheDigestFromTheFirstPartOn() {
        Mmap memory = fixture.memoryOf(new byte[128]);
        Mmap digests = fixture.base.local(64);
        Buf source = fixture.base.source(memory, 0, 64);
        Buf destination = fixture.base.destination(digests, 0, 40);
        ShaPartialHashTask task =
                fixture.sha.allocatePartialHash(ShaAlgorithm.SHA256, source, destination);
        assertThat(DmaFixture.bytes(digests.segment(), 0, 64)).containsOnly(0);
        while (task.trySubmit() == Status.AGAIN) {
            fixture.engine.progress();
        }
        assertThat(DmaFixture.bytes(digests.segment(), 0, 32)).containsOnly(0xa5);
        assertThat(DmaFixture.bytes(digests.segment(), 32, 32)).containsOnly(0);
        fixture.awaitEnd();
        assertThat(DmaFixture.bytes(digests.segment(), 0, 32)).containsOnly(0xa5);
        task.setFinal(true);
        while (task.trySubmit() == Status.AGAIN) {
            fixture.engine.progress();
        }
        assertThat(task.hasResult()).isFalse();
        fixture.awaitEnd();
        assertThat(task.hasResult()).isTrue();
        assertThat(DmaFixture.bytes(digests.segment(), 0, 32))
                .isEqualTo(ShaFixture.expected(ShaAlgorithm.SHA256, new byte[128]));
        task.free();
        source.release();
        destination.release();
        assertThat(reports).isEmpty();
    }

    @Test
    void shouldGiveTheSameDigestsInAnyOrderOfCompletion(SeededRandom random) {
        byte[] data = random.bytes(100_000);
        Mmap memory = fixture.memoryOf(data);
        Mmap digests = fixture.base.local(400);
        for (int round = 0; round < 50; round++) {
            List<ShaHashTask> tasks = new ArrayList<>();
            for (int i = 0; i < 4; i++) {
                ShaHashTask task =
                        fixture.sha.allocateHash(
                                random.oneOf(ShaAlgorithm.values()),
                                fixture.base.source(memory, 0, random.between(1, data.length)),
                                fixture.base.destination(digests, 100L * i, 64));
                tasks.add(task);
                submit(task);
            }
            fixture.awaitEnd();
            for (int i = 0; i < 4; i++) {
                ShaHashTask task = tasks.get(i);
                byte[] hashed = DmaFixture.bytes(memory.segment(), 0, task.source().dataLength());
                int length = task.algorithm().digestBytes();
                assertThat(DmaFixture.bytes(digests.segment(), 100L * i, length))
                        .isEqualTo(ShaFixture.expected(task.algorithm(), hashed));
                task.source().release();
                task.destination().release();
                task.free();
            }
        }
        assertThat(fixture.ended).hasSize(200).containsOnly(Status.SUCCESS);
        assertThat(reports).isEmpty();
    }
}
