//go:build amd64 || arm64

package clock

import (
	"bufio"
	"bytes"
	"debug/elf"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// vdso is the code that the kernel has mapped into a process.
type vdso struct {
	base      uint64
	image     []byte
	functions [len(functionNames)]elf.Symbol // by the numbers that the payload knows them by; the values are addresses
	syscall   uint64                         // address of an instruction that makes a system call
}

func findVDSO(pid int) (*vdso, error) {
	start, end, err := vdsoRange(pid)
	if err != nil {
		return nil, err
	}
	v := &vdso{base: start, image: make([]byte, end-start)}
	if err := peek(pid, start, v.image); err != nil {
		return nil, fmt.Errorf("read its vDSO: %w", err)
	}
	file, err := elf.NewFile(bytes.NewReader(v.image))
	if err != nil {
		return nil, fmt.Errorf("read its vDSO: %w", err)
	}
	if file.Class != elf.ELFCLASS64 || file.Machine != machine {
		return nil, fmt.Errorf("its vDSO is %v for %v: only 64-bit programs can be skewed", file.Class, file.Machine)
	}
	symbols, err := file.DynamicSymbols()
	if err != nil {
		return nil, fmt.Errorf("read its vDSO: %w", err)
	}
	linked := uint64(0) // the address that the image was linked for
	for _, p := range file.Progs {
		if p.Type == elf.PT_LOAD {
			linked = p.Vaddr - p.Off
			break
		}
	}
	for i, name := range functionNames {
		for _, s := range symbols {
			if off := s.Value - linked; s.Name == name && s.Size >= jumpSize && off+s.Size <= uint64(len(v.image)) {
				s.Value = start + off
				v.functions[i] = s
			}
		}
		if v.functions[i].Value == 0 {
			return nil, fmt.Errorf("its vDSO has no %s that can be patched", name)
		}
	}
	for at := 0; at+len(systemCall) <= len(v.image); at += aligned {
		if bytes.HasPrefix(v.image[at:], systemCall) {
			v.syscall = start + uint64(at)
			return v, nil
		}
	}
	return nil, errors.New("its vDSO makes no system calls")
}

// vdsoRange is where a process has its vDSO.
func vdsoRange(pid int) (start, end uint64, err error) {
	maps, err := os.Open(fmt.Sprintf("/proc/%d/maps", pid))
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, unix.ESRCH) {
		return 0, 0, ErrGone
	}
	if err != nil {
		return 0, 0, err
	}
	defer maps.Close()
	empty := true
	for deviations := bufio.NewScanner(maps); deviations.Scan(); empty = false {
		if !strings.HasSuffix(deviations.Text(), "[vdso]") {
			continue
		}
		if _, err := fmt.Sscanf(deviations.Text(), "%x-%x", &start, &end); err != nil {
			return 0, 0, fmt.Errorf("read its mappings: %w", err)
		}
		return start, end, nil
	}
	if empty {
		return 0, 0, ErrGone
	}
	return 0, 0, errors.New("it has no vDSO: this kernel was told to give none")
}

// entry returns the code of a function, which may be patched.
func (v *vdso) entry(i int) []byte {
	off := v.functions[i].Value - v.base
	return v.image[off : off+v.functions[i].Size]
}
