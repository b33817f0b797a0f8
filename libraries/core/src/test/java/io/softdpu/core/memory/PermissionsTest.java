package io.softdpu.core.memory;

import static org.assertj.core.api.Assertions.assertThat;

import io.softdpu.core.Status;
import io.softdpu.core.Thrown;
import io.softdpu.testkit.Clause;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class PermissionsTest {
    @Test
    void shouldHaveTheBitsOfTheGuide() {
        assertThat(AccessFlag.values())
                .extracting(AccessFlag::bit)
                .containsExactly(0, 1, 2, 4, 8, 16, 32, 64);
        assertThat(AccessFlag.values())
                .extracting(AccessFlag::name)
                .containsExactly(
                        "LOCAL_READ_ONLY",
                        "LOCAL_READ_WRITE",
                        "RDMA_READ",
                        "RDMA_WRITE",
                        "RDMA_ATOMIC",
                        "PCI_READ_ONLY",
                        "PCI_READ_WRITE",
                        "PCI_RELAXED_ORDERING");
    }

    @Test
    @Clause({"core-026", "core-028"})
    void shouldHaveTheValuesOfLocalAccess() {
        assertThat(AccessFlag.LOCAL_READ_ONLY.bit()).isZero();
        assertThat(Permissions.of(AccessFlag.LOCAL_READ_ONLY).bits()).isZero();
        assertThat(AccessFlag.LOCAL_READ_WRITE.bit()).isEqualTo(1);
    }

    @Test
    @Clause({"core-029", "core-030", "core-031"})
    void shouldHaveTheValuesOfRdmaAccess() {
        assertThat(AccessFlag.RDMA_READ.bit()).isEqualTo(2);
        assertThat(AccessFlag.RDMA_WRITE.bit()).isEqualTo(4);
        assertThat(AccessFlag.RDMA_ATOMIC.bit()).isEqualTo(8);
    }

    @Test
    @Clause({"core-032", "core-033"})
    void shouldHaveTheValuesOfAccessOverPcie() {
        assertThat(AccessFlag.PCI_READ_ONLY.bit()).isEqualTo(16);
        assertThat(AccessFlag.PCI_READ_WRITE.bit()).isEqualTo(32);
    }

    @Test
    @Clause("core-027")
    void shouldCombineFlagsInOneSet() {
        Permissions all =
                Permissions.of(
                        AccessFlag.LOCAL_READ_WRITE,
                        AccessFlag.RDMA_READ,
                        AccessFlag.RDMA_WRITE,
                        AccessFlag.PCI_READ_WRITE);
        assertThat(all.bits()).isEqualTo(1 + 2 + 4 + 32);
        assertThat(all.has(AccessFlag.RDMA_WRITE)).isTrue();
        assertThat(all.has(AccessFlag.RDMA_ATOMIC)).isFalse();
        assertThat(all.has(AccessFlag.LOCAL_READ_ONLY)).as("always holds").isTrue();
    }

    @Test
    @Clause("core-027")
    void shouldCombineAllFlagsThatFitTogether() {
        for (int bits = 0; bits < 128; bits++) {
            List<AccessFlag> flags = new ArrayList<>();
            for (AccessFlag flag : AccessFlag.values()) {
                if ((bits & flag.bit()) == flag.bit()) {
                    flags.add(flag);
                }
            }
            boolean readsAndWrites = (bits & 16) != 0 && (bits & 32) != 0;
            boolean reordersNothing = (bits & 64) != 0 && (bits & (16 + 32)) == 0;
            if (!readsAndWrites && !reordersNothing) {
                Permissions set = Permissions.of(flags.toArray(AccessFlag[]::new));
                assertThat(set.bits()).isEqualTo(bits);
                assertThat(AccessFlag.values())
                        .filteredOn(set::has)
                        .containsExactlyElementsOf(flags);
            }
        }
        assertThat(Permissions.of(AccessFlag.RDMA_READ, AccessFlag.RDMA_READ).bits()).isEqualTo(2);
    }

    @Test
    void shouldRefuseFlagsThatDoNotFitTogether() {
        Thrown.with(
                        Status.INVALID_VALUE,
                        () -> Permissions.of(AccessFlag.PCI_READ_ONLY, AccessFlag.PCI_READ_WRITE))
                .hasMessageContainingAll("PCI_READ_ONLY", "PCI_READ_WRITE");
        Thrown.with(Status.INVALID_VALUE, () -> Permissions.of(AccessFlag.PCI_RELAXED_ORDERING))
                .hasMessageContaining("PCI_RELAXED_ORDERING");
        Thrown.with(Status.INVALID_VALUE, () -> new Permissions(128)).hasMessageContaining("0x80");
        Thrown.with(Status.INVALID_VALUE, () -> new Permissions(-1));
    }

    @Test
    void shouldGrantWhatIsThereAndReadingWhereWritingIs() {
        Permissions writable = Permissions.of(AccessFlag.PCI_READ_WRITE);
        Permissions readable = Permissions.of(AccessFlag.PCI_READ_ONLY);
        assertThat(writable.grants(readable)).isTrue();
        assertThat(readable.grants(writable)).isFalse();
        assertThat(readable.grants(Permissions.LOCAL_READ_ONLY)).isTrue();
        assertThat(readable.grants(Permissions.LOCAL_READ_WRITE)).isFalse();
        assertThat(writable.grants(Permissions.of(AccessFlag.RDMA_READ))).isFalse();
        assertThat(
                        readable.grants(
                                Permissions.of(
                                        AccessFlag.PCI_READ_ONLY, AccessFlag.PCI_RELAXED_ORDERING)))
                .as("ordering is no right")
                .isTrue();
    }

    @Test
    void shouldTellWhoMayDoWhat() {
        Permissions set =
                Permissions.of(
                        AccessFlag.RDMA_ATOMIC,
                        AccessFlag.PCI_READ_ONLY,
                        AccessFlag.PCI_RELAXED_ORDERING);
        assertThat(set.allowsPci()).isTrue();
        assertThat(set.allowsPciWrite()).isFalse();
        assertThat(set.allowsRdma()).isTrue();
        assertThat(set.allowsRdmaWrite()).isTrue();
        assertThat(set.allowsLocalWrite()).isFalse();
        assertThat(set.allowsAnyWrite()).isTrue();
        assertThat(set.rdmaOnly()).isEqualTo(Permissions.of(AccessFlag.RDMA_ATOMIC));
        assertThat(set.acrossPci().allowsAnyWrite()).isFalse();
        assertThat(Permissions.of(AccessFlag.PCI_READ_WRITE, AccessFlag.RDMA_READ).acrossPci())
                .isEqualTo(Permissions.of(AccessFlag.PCI_READ_WRITE, AccessFlag.LOCAL_READ_WRITE));
        assertThat(set)
                .hasToString("[LOCAL_READ_ONLY, RDMA_ATOMIC, PCI_READ_ONLY, PCI_RELAXED_ORDERING]");
        assertThat(Permissions.LOCAL_READ_ONLY.allowsAnyWrite()).isFalse();
    }
}
