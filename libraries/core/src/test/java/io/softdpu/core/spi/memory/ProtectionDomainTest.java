package io.softdpu.core.spi.memory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import io.softdpu.core.memory.AccessFlag;
import io.softdpu.testkit.AllocationMeter;
import io.softdpu.testkit.Await;
import io.softdpu.testkit.Patience;
import io.softdpu.testkit.SeededRandom;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** Look-ups of keys, their ranges and rights, and withdrawals beside batches. */
class ProtectionDomainTest {
    private static final long ADDRESS = 0x7f00_0000_0000L;
    private static final int SIZE = 100;
    private static final int READ = AccessFlag.RDMA_READ.bit();
    private static final int WRITE = AccessFlag.RDMA_WRITE.bit();
    private static final int ATOMIC = AccessFlag.RDMA_ATOMIC.bit();

    private final Arena arena = Arena.ofShared();
    private final MemorySegment memory = arena.allocate(SIZE);
    private final ProtectionDomain domain = new ProtectionDomain("host/pf0");
    private final AccessBatches batches = new AccessBatches("127.0.0.1");
    private final DomainAccess access = domain.attach(batches);

    @AfterEach
    void close() {
        access.close();
        arena.close();
    }

    private static void nothing() {}

    private MemoryKey register(int rights) {
        return domain.register(
                ADDRESS, memory, rights, new Grant(null), ProtectionDomainTest::nothing);
    }

    private GrantedMemory find(int key, long address, long length, int right) {
        batches.begin();
        try {
            return access.find(key, address, length, right);
        } finally {
            batches.end();
        }
    }

    @Test
    void shouldFindTheMemoryOfAKey() {
        AtomicInteger changes = new AtomicInteger();
        MemoryKey key =
                domain.register(
                        ADDRESS, memory, READ | WRITE, new Grant(null), changes::incrementAndGet);

        GrantedMemory found = find(key.key(), ADDRESS, SIZE, READ);

        assertThat(found.memory()).isEqualTo(memory);
        assertThat(found.address()).isEqualTo(ADDRESS);
        found.changed();
        assertThat(changes).hasValue(1);
        assertThat(key.toString()).doesNotContain(Integer.toHexString(key.key()));
    }

    @Test
    void shouldRegisterNothingThatCannotBeMappedForTheAdapter() {
        access.serve();
        assertThatIllegalStateException()
                .isThrownBy(() ->
                        domain.registerUnmapped(
                                ADDRESS,
                                () -> {
                                    throw new IllegalStateException("no memory");
                                },
                                READ,
                                new Grant(null),
                                ProtectionDomainTest::nothing))
                .withMessage("no memory");
        assertThat(domain.keys()).isZero();
    }

    /** The exporter of one memory must not keep another one from its peers. */
    @Test
    void shouldServeTheMemoryBesideOneThatCannotBeMapped() {
        AtomicInteger attempts = new AtomicInteger();
        MemoryKey failing =
                domain.registerUnmapped(
                        ADDRESS,
                        () -> {
                            if (attempts.incrementAndGet() == 1) {
                                throw new IllegalStateException("no memory");
                            }
                            return memory;
                        },
                        READ,
                        new Grant(null),
                        ProtectionDomainTest::nothing);
        MemoryKey other =
                domain.registerUnmapped(
                        ADDRESS,
                        () -> memory,
                        READ,
                        new Grant(null),
                        ProtectionDomainTest::nothing);

        access.serve();

        assertThat(find(failing.key(), ADDRESS, 1, READ)).isNull();
        assertThat(find(other.key(), ADDRESS, SIZE, READ)).isNotNull();

        access.serve();
        assertThat(attempts).as("the adapter serves already").hasValue(1);
        try (DomainAccess next = domain.attach(batches)) {
            next.serve();
        }
        assertThat(find(failing.key(), ADDRESS, SIZE, READ)).isNotNull();
    }

    @ParameterizedTest
    @CsvSource({
        "0, 1, true",
        "0, 100, true",
        "99, 1, true",
        "92, 8, true",
        "0, 101, false", // one byte behind
        "99, 2, false",
        "100, 1, false",
        "-1, 1, false", // one byte in front
        "-1, 101, false",
        "-8, 8, false",
        "0, 0, false", // an empty range is inside of nothing
        "100, 0, false",
        "0, -1, false",
        "50, 9223372036854775807, false", // the end of the range wraps
        "1, 9223372036854775807, false",
        "-9223372036854775808, 1, false",
        "9223372036854775807, 100, false",
        "0, -9223372036854775808, false"
    })
    void shouldGrantWhatIsInTheRange(long offset, long length, boolean granted) {
        int key = register(WRITE).key();
        assertThat(find(key, ADDRESS + offset, length, WRITE) != null).isEqualTo(granted);
    }

    /** The highest address there is: the range ends where the numbers do. */
    @ParameterizedTest
    @CsvSource({
        "-100, 100, true",
        "-1, 1, true",
        "-1, 2, false", // address + length is 1
        "0, 1, false",
        "-101, 1, false"
    })
    void shouldGrantWhatIsInARangeAtTheEndOfAllAddresses(
            long address, long length, boolean granted) {
        MemoryKey key =
                domain.register(
                        -SIZE, memory, READ, new Grant(null), ProtectionDomainTest::nothing);
        assertThat(find(key.key(), address, length, READ) != null).isEqualTo(granted);
    }

    @ParameterizedTest
    @EnumSource(
            value = AccessFlag.class,
            names = {"RDMA_READ", "RDMA_WRITE", "RDMA_ATOMIC"})
    void shouldGrantOneRightAlone(AccessFlag right) {
        int key = register(right.bit()).key();
        for (int asked : new int[] {READ, WRITE, ATOMIC}) {
            assertThat(find(key, ADDRESS, 8, asked) != null)
                    .as("asked=%s", asked)
                    .isEqualTo(asked == right.bit());
        }
        assertThat(find(key, ADDRESS, 8, READ | WRITE | ATOMIC)).isNull();
        assertThat(find(key, ADDRESS, 8, AccessFlag.LOCAL_READ_ONLY.bit())).as("no right").isNull();
    }

    @Test
    void shouldRefuseAllOfMemoryThatIsNotMapped() {
        MemoryKey key =
                domain.register(
                        ADDRESS,
                        MemorySegment.NULL,
                        READ,
                        new Grant(null),
                        ProtectionDomainTest::nothing);
        assertThat(key.key()).isNotZero();
        assertThat(find(key.key(), ADDRESS, 1, READ)).isNull();
    }

    @Test
    void shouldRefuseTheKeyOfAnotherDomain() {
        ProtectionDomain other = new ProtectionDomain("host/pf1");
        MemoryKey theirs =
                other.register(
                        ADDRESS, memory, READ, new Grant(null), ProtectionDomainTest::nothing);
        MemoryKey ours = register(READ);

        assertThat(find(theirs.key(), ADDRESS, 1, READ)).isNull();
        assertThat(find(ours.key(), ADDRESS, 1, READ)).isNotNull();
    }

    /** Zero is no key, and one that is taken is not given again. */
    @Test
    void shouldGiveEachKeyOnce() {
        Iterator<Integer> numbers = List.of(0, 7, 7, 0, 7, 9).iterator();
        ProtectionDomain small = new ProtectionDomain("host/pf0", numbers::next);

        MemoryKey first =
                small.register(
                        ADDRESS, memory, READ, new Grant(null), ProtectionDomainTest::nothing);
        MemoryKey second =
                small.register(
                        ADDRESS, memory, READ, new Grant(null), ProtectionDomainTest::nothing);

        assertThat(first.key()).isEqualTo(7);
        assertThat(second.key()).isEqualTo(9);
        assertThat(small.find(0)).isNull();
    }

    /** All in one place of the table, around its end: a gap in their row would hide the others. */
    @Test
    void shouldFindKeysThatMeetInTheTable() {
        Iterator<Integer> numbers = List.of(0x0f, 0x1f, 0x2f, 0x3f).iterator();
        ProtectionDomain small = new ProtectionDomain("host/pf0", numbers::next);
        MemoryKey[] keys = new MemoryKey[3];
        for (int i = 0; i < keys.length; i++) {
            keys[i] =
                    small.register(
                            ADDRESS, memory, READ, new Grant(null), ProtectionDomainTest::nothing);
        }

        keys[1].withdraw();

        assertThat(small.find(0x0f)).isSameAs(keys[0]);
        assertThat(small.find(0x1f)).isNull();
        assertThat(small.find(0x2f)).isSameAs(keys[2]);
        assertThat(small.find(0x3f)).isNull();
        assertThat(small.find(0x4f)).isNull();
    }

    @Test
    void shouldFindWhatIsThereWhileKeysComeAndGo(SeededRandom random) {
        Map<Integer, MemoryKey> present = new HashMap<>();
        Queue<MemoryKey> inOrder = new ArrayDeque<>();
        for (int step = 0; step < 2000; step++) {
            if (random.nextInt(3) > 0 || inOrder.isEmpty()) {
                MemoryKey added = register(READ);
                assertThat(present.put(added.key(), added)).as("unique").isNull();
                inOrder.add(added);
            } else {
                MemoryKey gone = inOrder.remove();
                gone.withdraw();
                present.remove(gone.key());
                assertThat(domain.find(gone.key())).isNull();
            }
            if (step % 100 == 0) {
                present.forEach((key, expected) -> assertThat(domain.find(key)).isSameAs(expected));
                assertThat(domain.find(0)).isNull();
            }
        }
    }

    @Test
    void shouldNotFindWhatWasWithdrawn() {
        MemoryKey key = register(WRITE);
        assertThat(find(key.key(), ADDRESS, 1, WRITE)).isNotNull();
        key.withdraw();
        assertThat(find(key.key(), ADDRESS, 1, WRITE)).isNull();
        key.withdraw();
        assertThat(find(key.key(), ADDRESS, 1, WRITE)).as("twice").isNull();
    }

    @Test
    void shouldLookInsideABatchAlone() {
        int key = register(READ).key();
        assertThatIllegalStateException()
                .isThrownBy(() -> access.find(key, ADDRESS, 1, READ))
                .withMessageContaining("outside a batch");
        batches.begin();
        assertThatIllegalStateException()
                .isThrownBy(batches::begin)
                .withMessageContaining("batch is under way");
        batches.end();
        assertThatIllegalStateException()
                .isThrownBy(batches::end)
                .withMessageContaining("no batch is under way");
    }

    /** It would wait for itself. */
    @Test
    void shouldRefuseAWithdrawalInsideABatch() {
        MemoryKey key = register(READ);
        batches.begin();
        assertThatIllegalStateException()
                .isThrownBy(key::withdraw)
                .withMessageContainingAll("inside it", "127.0.0.1");
        assertThatIllegalStateException()
                .isThrownBy(access::close)
                .withMessageContaining("inside it");
        batches.end();
    }

    /** Neither key is found after a withdrawal that has failed, and a second one waits again. */
    @Test
    void shouldWithdrawSeveralAgainAfterAFailure() {
        ProtectionDomain other = new ProtectionDomain("host/pf1");
        List<MemoryKey> keys = new ArrayList<>();
        keys.add(register(WRITE));
        keys.add(other.register(ADDRESS, memory, WRITE, new Grant(null), () -> {}));
        MemoryKey second = keys.getLast();
        batches.begin();

        assertThatIllegalStateException().isThrownBy(() -> MemoryKey.withdrawAll(keys));

        assertThat(keys).hasSize(2);
        assertThat(other.find(second.key())).isNull();
        assertThatIllegalStateException().isThrownBy(() -> MemoryKey.withdrawAll(keys));
        batches.end();
        MemoryKey.withdrawAll(keys);
        assertThat(keys).isEmpty();
    }

    /** Withdrawals do not wait for it any more. */
    @Test
    void shouldFindNothingAfterTheEndOfAnAccess() {
        int key = register(READ).key();
        access.close();
        assertThat(find(key, ADDRESS, 1, READ)).isNull();
    }

    @Test
    void shouldSayThatABatchDoesNotEnd() throws InterruptedException {
        Thread adapter = Thread.ofPlatform().name("adapter").start(batches::begin);
        assertThat(adapter.join(Patience.DEADLINE)).isTrue();

        assertThatIllegalStateException()
                .isThrownBy(() -> batches.awaitEnd(1))
                .withMessageContainingAll("does not end", "127.0.0.1", "adapter");

        batches.end();
    }

    /**
     * What was found before the withdrawal may change until the end of the batch; so the withdrawal
     * waits for that, and for no batch after it.
     */
    @Test
    void shouldWaitForTheBatchUnderWay() throws InterruptedException {
        MemoryKey key = register(WRITE);
        batches.begin();
        GrantedMemory found = access.find(key.key(), ADDRESS, 1, WRITE);
        Thread owner = Thread.ofPlatform().start(key::withdraw);
        Await.until("wait", () -> owner.getState() == Thread.State.TIMED_WAITING);

        assertThat(access.find(key.key(), ADDRESS, 1, WRITE)).as("same batch").isNull();
        found.memory().set(ValueLayout.JAVA_BYTE, 0, (byte) 1);
        assertThat(owner.isAlive()).as("waits").isTrue();
        batches.end();
        batches.begin();
        assertThat(owner.join(Patience.DEADLINE)).as("ended in the next batch").isTrue();
        assertThat(access.find(key.key(), ADDRESS, 1, WRITE)).isNull();
        batches.end();
        assertThat(memory.get(ValueLayout.JAVA_BYTE, 0)).isOne();
    }

    /** Several endpoints of one adapter have an access each. */
    @Test
    void shouldWaitAsLongAsOneAccessIsLeft() throws InterruptedException {
        access.close();
        MemoryKey key = register(WRITE);
        DomainAccess first = domain.attach(batches);
        DomainAccess second = domain.attach(batches);
        first.close();
        first.close();
        batches.begin();
        Thread owner = Thread.ofPlatform().start(key::withdraw);
        Await.until("wait", () -> owner.getState() == Thread.State.TIMED_WAITING);
        batches.end();
        assertThat(owner.join(Patience.DEADLINE)).isTrue();
        second.close();

        MemoryKey other = register(WRITE);
        batches.begin();
        other.withdraw();
        batches.end();
    }

    @Test
    void shouldNotWaitForAnotherDomainsAdapter() {
        AccessBatches others = new AccessBatches("127.0.0.2");
        others.begin();
        register(WRITE).withdraw();
        others.end();
    }

    @Test
    void shouldAllocateNothing() {
        int[] keys = new int[50];
        Arrays.setAll(keys, i -> register(READ).key());
        int[] next = new int[1];
        AllocationMeter.assertNone(
                1000,
                () -> {
                    int at = next[0]++ % keys.length;
                    batches.begin();
                    if (access.find(keys[at], ADDRESS, SIZE, READ) == null
                            || access.find(keys[at], ADDRESS, SIZE, WRITE) != null
                            || access.find(keys[at] + 1, ADDRESS - 1, SIZE, READ) != null) {
                        throw new AssertionError("key " + at);
                    }
                    batches.end();
                });
    }
}
