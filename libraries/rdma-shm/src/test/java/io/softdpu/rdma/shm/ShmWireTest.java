package io.softdpu.rdma.shm;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class ShmWireTest {

    @Test
    void shouldKeepTheLengthOfAMessageInTheLowHalfOfItsFirstWord() {
        assertThat(ShmWire.firstWord(ShmWire.MAX_MESSAGE_BYTES, 0)).isEqualTo(0x4000_0000L);
        assertThat(ShmWire.firstWord(0xffff_ffff_0000_0007L, 0)).isEqualTo(7);
        assertThat(ShmWire.messageLength(0x8000_0001_ffff_fffeL)).isEqualTo(0xffff_fffeL);
    }

    @Test
    void shouldKeepAnImmediateInTheHighHalfAndBigEndian() {
        assertThat(ShmWire.immediate(0x0102_0380_0000_0007L)).isEqualTo(0x8003_0201);
        assertThat(ShmWire.firstWord(7, 0x8003_0201)).isEqualTo(0x0102_0380_0000_0007L);
        assertThat(ShmWire.firstWord(0xffff_fffeL, -1)).isEqualTo(0xffff_ffff_ffff_fffeL);
        assertThat(ShmWire.firstWord(7, 0)).isEqualTo(7);
    }
}
