package io.softdpu.block.fault;

import static org.assertj.core.api.Assertions.assertThat;

import io.softdpu.block.BlockDevice;
import io.softdpu.block.BlockReadTask;
import io.softdpu.block.BlockWriteTask;
import io.softdpu.block.property.BlockIdentity;
import io.softdpu.core.Status;
import io.softdpu.core.execution.ContextState;
import io.softdpu.core.execution.Task;
import io.softdpu.junit.SoftDpu;
import io.softdpu.junit.SoftDpuTest;
import io.softdpu.testkit.Patience;
import io.softdpu.testkit.SeededRandom;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Effect of each option: on which requests, on which bytes, and on nothing else. */
@SoftDpuTest(sanitized = false)
class FaultDeviceTest {
    private static final int BLOCK = 4096;
    private static final int SECTOR = 512;

    private SoftDpu card;
    private FaultFixture fixture;

    @BeforeEach
    void begin(SoftDpu given) {
        card = given;
    }

    @AfterEach
    void close() throws Exception {
        fixture.close();
    }

    private void open(String options) {
        fixture =
                FaultFixture.open(
                        card.dpuDevice(),
                        BlockDevice.open("fault:" + options + ":memory:256KiB", BLOCK));
    }

    // ---- error ----

    @ParameterizedTest
    @CsvSource({
        "read, IO_FAILED",
        "write, FULL",
        "flush, NOT_PERMITTED",
        "discard, IO_FAILED",
        "write-zeroes, FULL",
        "extents, FULL"
    })
    void shouldFailTheRequestsOfOneOperationWithItsStatus(String operation, Status status) {
        open("error=" + operation + "/" + status + "/1");

        Map<String, Status> ended = new LinkedHashMap<>();
        ended.put("read", fixture.tryRead(0, BLOCK));
        ended.put("write", fixture.write(0, new byte[BLOCK], false));
        ended.put("discard", fixture.run(fixture.context.allocateDiscard(0, BLOCK)));
        ended.put("write-zeroes", fixture.run(fixture.context.allocateWriteZeroes(0, BLOCK)));
        ended.put("flush", fixture.flush());
        ended.forEach((each, result) ->
                assertThat(result)
                        .as(each)
                        .isEqualTo(each.equals(operation) ? status : Status.SUCCESS));
        assertThat(fixture.context.state()).isEqualTo(ContextState.RUNNING);
    }

    @Test
    void shouldChangeNoBlockByAWriteThatFails(SeededRandom random) {
        open("error=write/IO_FAILED/1");
        byte[] before = fixture.read(0, 2 * BLOCK);

        assertThat(fixture.write(0, random.bytes(BLOCK), false)).isEqualTo(Status.IO_FAILED);
        assertThat(fixture.read(0, 2 * BLOCK)).isEqualTo(before);
        assertThat(fixture.flush()).as("a write without FUA").isEqualTo(Status.SUCCESS);
    }

    @Test
    void shouldLeaveTheDeviceWithoutDurabilityAfterAFailedFlush() {
        open("error=flush/IO_FAILED/1");
        BlockIdentity before = fixture.blockDevice.identity();
        assertThat(fixture.flush()).isEqualTo(Status.IO_FAILED);

        assertThat(fixture.blockDevice.identity()).isNotEqualTo(before);
        assertThat(fixture.write(0, new byte[BLOCK], false)).isEqualTo(Status.SUCCESS);
        Task flush = fixture.context.allocateFlush();
        assertThat(flush.trySubmit()).isEqualTo(Status.IO_FAILED);
        flush.free();
    }

    @Test
    void shouldFailAsOftenAsTheRateSays() throws Exception {
        int count = 1000;
        List<Status> first = readsWith("seed=5,error=read/IO_FAILED/0.25", count);

        assertThat(first).containsOnly(Status.SUCCESS, Status.IO_FAILED);
        assertThat(first.stream().filter(each -> each == Status.IO_FAILED).count())
                .isBetween(150L, 350L);
        fixture.close();
        assertThat(readsWith("seed=5,error=read/IO_FAILED/0.25", count))
                .as("the same for the same seed")
                .isEqualTo(first);
        fixture.close();
        assertThat(readsWith("seed=6,error=read/IO_FAILED/0.25", count)).isNotEqualTo(first);
        fixture.close();
        assertThat(readsWith("seed=5,error=read/IO_FAILED/0", count)).containsOnly(Status.SUCCESS);
    }

    private List<Status> readsWith(String options, int count) {
        open(options);
        List<Status> ended = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            ended.add(fixture.tryRead(0, BLOCK));
        }
        return ended;
    }

    // ---- delay ----

    @Test
    void shouldDelayTheRequestsOfOneOperation() {
        long nanos = 200_000_000;
        open("delay=read/200ms");
        long begin = System.nanoTime();
        BlockReadTask first = fixture.beginRead(1, 0, BLOCK);
        BlockReadTask second = fixture.beginRead(2, 0, BLOCK);

        assertThat(fixture.write(0, new byte[BLOCK], false)).isEqualTo(Status.SUCCESS);
        if (System.nanoTime() - begin < nanos) { // unless this thread had no processor meanwhile
            assertThat(first.status()).isEqualTo(Status.IN_PROGRESS);
        }
        assertThat(fixture.await(first)).isEqualTo(Status.SUCCESS);
        assertThat(fixture.await(second)).isEqualTo(Status.SUCCESS);
        assertThat(System.nanoTime() - begin).isGreaterThanOrEqualTo(nanos);
        assertThat(fixture.get(BLOCK, BLOCK)).as("read after the delay").containsOnly(0);
        FaultFixture.free(first);
        FaultFixture.free(second);
    }

    // ---- hold ----

    @Test
    void shouldHoldWhatIsSubmittedWhileTheFileExists(@TempDir Path folder) throws Exception {
        Path file = folder.resolve("hold");
        open("hold=" + file);
        assertThat(fixture.flush()).as("without the file").isEqualTo(Status.SUCCESS);
        Files.createFile(file);
        byte[] bytes = new byte[BLOCK];
        Arrays.fill(bytes, (byte) 7);
        BlockWriteTask write = fixture.beginWrite(1, 0, bytes);
        BlockReadTask read = fixture.beginRead(2, BLOCK, BLOCK);

        for (int i = 0; i < 5; i++) { // five looks at the file
            assertThat(fixture.engine.await(Patience.LIMIT)).isTrue();
        }
        assertThat(write.status()).isEqualTo(Status.IN_PROGRESS);
        assertThat(read.status()).isEqualTo(Status.IN_PROGRESS);
        Files.delete(file);
        assertThat(fixture.await(write)).isEqualTo(Status.SUCCESS);
        assertThat(fixture.await(read)).isEqualTo(Status.SUCCESS);
        FaultFixture.free(write);
        FaultFixture.free(read);
        assertThat(fixture.read(0, BLOCK)).isEqualTo(bytes);
    }

    @Test
    void shouldBeStoppingWhileRequestsAreHeld(@TempDir Path folder) throws Exception {
        Path file = Files.createFile(folder.resolve("hold"));
        open("hold=" + file);
        BlockReadTask read = fixture.beginRead(1, 0, BLOCK);
        fixture.context.stop();
        fixture.drain();
        assertThat(fixture.context.state()).isEqualTo(ContextState.STOPPING);
        assertThat(read.status()).isEqualTo(Status.IN_PROGRESS);

        Files.delete(file);
        assertThat(fixture.await(read)).isIn(Status.SUCCESS, Status.SHUTDOWN);
        FaultFixture.free(read);
        fixture.drain();
        assertThat(fixture.context.state()).isEqualTo(ContextState.IDLE);
    }

    // ---- corrupt ----

    @Test
    void shouldChangeABitOfWhatIsReadAlone(SeededRandom random) {
        open("corrupt=read/1");
        byte[] bytes = random.bytes(2 * BLOCK);
        assertThat(fixture.write(BLOCK, bytes, true)).isEqualTo(Status.SUCCESS);
        byte[] one = fixture.read(BLOCK, bytes.length);
        byte[] two = fixture.read(BLOCK, bytes.length);

        assertThat(FaultFixture.differingBits(one, bytes)).isOne();
        assertThat(FaultFixture.differingBits(two, bytes)).as("of the same blocks").isOne();
        assertThat(one).as("another bit").isNotEqualTo(two);
    }

    @Test
    void shouldChangeABitOfWhatIsWrittenAlone(SeededRandom random) {
        open("corrupt=write/1");
        byte[] before = fixture.read(0, 4 * BLOCK);
        byte[] bytes = random.bytes(2 * BLOCK);
        BlockWriteTask write = fixture.beginWrite(2, BLOCK, bytes);
        assertThat(fixture.await(write)).isEqualTo(Status.SUCCESS);
        FaultFixture.free(write);

        assertThat(fixture.get(2 * 4096, bytes.length)).as("the program's").isEqualTo(bytes);
        byte[] after = fixture.read(0, 4 * BLOCK);
        assertThat(FaultFixture.differingBits(Arrays.copyOfRange(after, BLOCK, 3 * BLOCK), bytes))
                .isOne();
        assertThat(FaultFixture.isSame(after, before, 0, BLOCK)).isTrue();
        assertThat(FaultFixture.isSame(after, before, 3 * BLOCK, BLOCK)).isTrue();
    }

    // ---- torn ----

    @Test
    void shouldFailAWriteWithSomeOfItsSectorsWritten(SeededRandom random) {
        open("torn=1");
        byte[] before = fixture.read(0, 16 * BLOCK);
        byte[] bytes = random.bytes(8 * BLOCK);
        assertThat(fixture.write(4 * BLOCK, bytes, false)).isEqualTo(Status.IO_FAILED);

        byte[] after = fixture.read(0, 16 * BLOCK);
        byte[] wanted = before.clone();
        System.arraycopy(bytes, 0, wanted, 4 * BLOCK, bytes.length);
        int written = 0;
        for (int at = 0; at < after.length; at += SECTOR) {
            boolean isNew = FaultFixture.isSame(after, wanted, at, SECTOR);
            boolean isOld = FaultFixture.isSame(after, before, at, SECTOR);
            assertThat(isNew || isOld).as("sector at %d", at).isTrue();
            written += isNew && !isOld ? 1 : 0;
        }
        assertThat(written).isBetween(1, bytes.length / SECTOR - 1);
        assertThat(fixture.flush()).as("a write without FUA").isEqualTo(Status.SUCCESS);
    }

    @Test
    void shouldLeaveTheDeviceWithoutDurabilityAfterATornWriteWithFua() {
        open("torn=1");
        BlockIdentity before = fixture.blockDevice.identity();

        assertThat(fixture.write(0, new byte[BLOCK], true)).isEqualTo(Status.IO_FAILED);
        assertThat(fixture.blockDevice.identity()).isNotEqualTo(before);
    }

    @Test
    void shouldRepeatItsDamageWithTheSameSeed() throws Exception {
        byte[] first = contentAfterWrites("seed=9,torn=0.3,corrupt=write/0.3");
        fixture.close();
        assertThat(contentAfterWrites("seed=9,torn=0.3,corrupt=write/0.3")).isEqualTo(first);
        fixture.close();
        assertThat(contentAfterWrites("seed=8,torn=0.3,corrupt=write/0.3")).isNotEqualTo(first);
    }

    private byte[] contentAfterWrites(String options) {
        open(options);
        for (int i = 0; i < 32; i++) {
            byte[] bytes = new byte[BLOCK];
            Arrays.fill(bytes, (byte) i);
            assertThat(fixture.write((long) i * BLOCK, bytes, false))
                    .isIn(Status.SUCCESS, Status.IO_FAILED);
        }
        return fixture.read(0, 32 * BLOCK);
    }
}
