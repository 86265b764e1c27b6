/* The tables are .eh_frame_hdr and .eh_frame: the Linux Standard Base, Core, chapter 10.6, and
 * DWARF 5, section 6.4, for the instructions. They belong to loaded files and are read as they are;
 * the stack is not trusted.
 */
#include "unwind.h"
#include "unwind_tables.h"

#include <dlfcn.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

enum
{
    page = 4096,
    remembered_max = 3,
    expression_max = 16 /* values at once */
};

enum rule_kind
{
    rule_same, /* Also without a rule. */
    rule_undefined,
    rule_offset,     /* Is at the frame's address + value. */
    rule_val_offset, /* Is that address itself. */
    rule_register,
    rule_expression, /* Is where an expression says; value: its address. */
    rule_val_expression
};

struct rule
{
    uint8_t kind;
    int64_t value;
};

struct row
{
    struct rule registers[unwind_registers];
    struct rule frame; /* rule_register: value is the number; or rule_val_expression. */
    int64_t frame_offset;
};

/* is_readable asks the kernel whether the word at an address can be read: to change the signal mask
 * in an invalid way (-1). The kernel reads the set first, and returns EFAULT if it cannot. */
static bool is_readable(uintptr_t address)
{
    if (address % 8 != 0 || address < page)
        return false;
    long result = 0;
#if defined(__x86_64__)
    register long r10 __asm__("r10") = 8;
    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "a"(SYS_rt_sigprocmask), "D"(-1), "S"(address), "d"(0), "r"(r10)
                     : "rcx", "r11", "memory");
#elif defined(__aarch64__)
    register long x8 __asm__("x8") = SYS_rt_sigprocmask;
    register long x0 __asm__("x0") = -1;
    register long x1 __asm__("x1") = (long)address;
    register long x2 __asm__("x2") = 0;
    register long x3 __asm__("x3") = 8;
    __asm__ volatile("svc 0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2), "r"(x3) : "memory");
    result = x0;
#endif
    return result == -22; /* EINVAL; otherwise EFAULT. */
}

/* readable says whether a word of the stack can be read. */
static bool readable(struct unwind_frame* frame, uintptr_t address)
{
    if (address >= frame->readable_from && address + 8 <= frame->readable_to)
        return true;
    if (!is_readable(address))
        return false;
    uintptr_t const begin = address / page * page;
    if (begin == frame->readable_to)
        frame->readable_to += page;
    else {
        frame->readable_from = begin;
        frame->readable_to = begin + page;
    }
    return true;
}

static bool word_at(struct unwind_frame* frame, uintptr_t address, uintptr_t* value)
{
    if (!readable(frame, address))
        return false;
    memcpy(value, (void const*)address, sizeof *value);
    return true;
}

static void set_rule(struct row* row, uint64_t number, enum rule_kind kind, int64_t value)
{
    if (number < unwind_registers)
        row->registers[number] = (struct rule){(uint8_t)kind, value};
}

/* skip_block steps over an expression, and gives where it begins. */
static int64_t skip_block(uint8_t const** cursor)
{
    int64_t const begin = (int64_t)(uintptr_t)*cursor;
    uint64_t const size = uleb(cursor);
    *cursor += size;
    return begin;
}

/* frame_rule executes an instruction that says where the frame is; false: it is another one. */
static bool frame_rule(
    struct table const* table, struct row* row, uint8_t op, uint8_t const** cursor)
{
    switch (op) {
    case 0x0c: /* def_cfa */
    case 0x12: /* def_cfa_sf */
        row->frame = (struct rule){rule_register, (int64_t)uleb(cursor)};
        row->frame_offset = op == 0x0c ? (int64_t)uleb(cursor) : sleb(cursor) * table->data_align;
        return true;
    case 0x0d: /* def_cfa_register */
        row->frame = (struct rule){rule_register, (int64_t)uleb(cursor)};
        return true;
    case 0x0e:
        row->frame_offset = (int64_t)uleb(cursor);
        return true;
    case 0x13:
        row->frame_offset = sleb(cursor) * table->data_align;
        return true;
    case 0x0f:
        row->frame = (struct rule){rule_val_expression, skip_block(cursor)};
        return true;
    default:
        return false;
    }
}

/* register_rule executes an instruction that says where a register is; false: it is unknown. */
static bool register_rule(
    struct table const* table, struct row* row, struct row const* initial, uint8_t op,
    uint8_t const** cursor)
{
    if (op == 0x00 || op == 0x2d) /* nop; on arm64 the return address is signed. */
        return true;
    if (op == 0x2e) { /* GNU_args_size */
        uleb(cursor);
        return true;
    }
    uint64_t const number = uleb(cursor);
    switch (op) {
    case 0x05:
        set_rule(row, number, rule_offset, (int64_t)uleb(cursor) * table->data_align);
        return true;
    case 0x06:
        if (number < unwind_registers)
            row->registers[number] = initial->registers[number];
        return true;
    case 0x07:
        set_rule(row, number, rule_undefined, 0);
        return true;
    case 0x08:
        set_rule(row, number, rule_same, 0);
        return true;
    case 0x09:
        set_rule(row, number, rule_register, (int64_t)uleb(cursor));
        return true;
    case 0x10:
        set_rule(row, number, rule_expression, skip_block(cursor));
        return true;
    case 0x11:
        set_rule(row, number, rule_offset, sleb(cursor) * table->data_align);
        return true;
    case 0x14:
        set_rule(row, number, rule_val_offset, (int64_t)uleb(cursor) * table->data_align);
        return true;
    case 0x15:
        set_rule(row, number, rule_val_offset, sleb(cursor) * table->data_align);
        return true;
    case 0x16:
        set_rule(row, number, rule_val_expression, skip_block(cursor));
        return true;
    default:
        return false;
    }
}

/* advance gives by how many bytes of code an instruction moves on, or -1: it does not. */
static int64_t advance(struct table const* table, uint8_t op, uint8_t const** cursor)
{
    if (op >> 6 == 1)
        return (int64_t)((op & 0x3f) * table->code_align);
    switch (op) {
    case 0x02:
        return (int64_t)(fixed(cursor, 1) * table->code_align);
    case 0x03:
        return (int64_t)(fixed(cursor, 2) * table->code_align);
    case 0x04:
        return (int64_t)(fixed(cursor, 4) * table->code_align);
    default:
        return -1;
    }
}

/* execute runs instructions up to `pc`. */
static bool execute(
    struct table const* table, struct row* row, struct row const* initial, uint8_t const* cursor,
    uint8_t const* end, uintptr_t pc)
{
    struct row remembered[remembered_max];
    unsigned depth = 0;
    uintptr_t place = table->code_begin;
    while (cursor < end) {
        uint8_t const op = *cursor++;
        int64_t const step = advance(table, op, &cursor);
        if (step >= 0) {
            place += (uintptr_t)step;
            if (place > pc)
                return true;
        } else if (op >> 6 == 2) {
            set_rule(row, op & 0x3f, rule_offset, (int64_t)uleb(&cursor) * table->data_align);
        } else if (op >> 6 == 3) {
            if ((op & 0x3f) < unwind_registers)
                row->registers[op & 0x3f] = initial->registers[op & 0x3f];
        } else if (op == 0x0a) {
            if (depth == remembered_max)
                return false;
            remembered[depth++] = *row;
        } else if (op == 0x0b) {
            if (depth == 0)
                return false;
            *row = remembered[--depth];
        } else if (
            !frame_rule(table, row, op, &cursor) &&
            !register_rule(table, row, initial, op, &cursor)) {
            return false;
        }
    }
    return true;
}

/* apply_operator applies an operator to the two topmost values; false: it is unknown. */
static bool apply_operator(uint8_t op, uint64_t* a, uint64_t b)
{
    switch (op) {
    case 0x1a:
        *a &= b;
        return true;
    case 0x1c:
        *a -= b;
        return true;
    case 0x21:
        *a |= b;
        return true;
    case 0x22:
        *a += b;
        return true;
    case 0x24:
        *a = b < 64 ? *a << b : 0;
        return true;
    case 0x25:
        *a = b < 64 ? *a >> b : 0;
        return true;
    case 0x29:
        *a = *a == b;
        return true;
    case 0x2a:
        *a = (int64_t)*a >= (int64_t)b;
        return true;
    case 0x2b:
        *a = (int64_t)*a > (int64_t)b;
        return true;
    case 0x2c:
        *a = (int64_t)*a <= (int64_t)b;
        return true;
    case 0x2d:
        *a = (int64_t)*a < (int64_t)b;
        return true;
    case 0x2e:
        *a = *a != b;
        return true;
    default:
        return false;
    }
}

/* pushed_value gives the value that an operation pushes; false: it pushes none. */
static bool pushed_value(
    struct unwind_frame const* frame, uint8_t op, uint8_t const** cursor, uint64_t* value)
{
    if (op >= 0x30 && op <= 0x4f)
        *value = op - 0x30u;
    else if (op >= 0x70 && op <= 0x8f) {
        unsigned const number = op - 0x70u;
        int64_t const offset = sleb(cursor);
        uintptr_t const base = number == 16 && unwind_registers == 17 ? frame->pc
                               : number < unwind_registers            ? frame->registers[number]
                                                                      : 0;
        *value = base + (uint64_t)offset;
    } else if (op == 0x08)
        *value = fixed(cursor, 1);
    else if (op == 0x09)
        *value = (uint64_t)(int64_t)(int8_t)fixed(cursor, 1);
    else if (op == 0x0a)
        *value = fixed(cursor, 2);
    else if (op == 0x10)
        *value = uleb(cursor);
    else if (op == 0x11)
        *value = (uint64_t)sleb(cursor);
    else
        return false;
    return true;
}

/* evaluate runs an expression, of the operations that linkers and libc use: for their stubs, and
 * for the frame of a signal. */
static bool evaluate(
    struct unwind_frame* frame, int64_t expression, bool has_initial, uintptr_t initial,
    uintptr_t* result)
{
    uint8_t const* cursor = (uint8_t const*)(uintptr_t)expression;
    uint64_t const size = uleb(&cursor);
    uint8_t const* const end = cursor + size;
    uint64_t value[expression_max];
    unsigned depth = 0;
    if (has_initial)
        value[depth++] = initial;
    while (cursor < end) {
        uint8_t const op = *cursor++;
        uint64_t top = 0;
        if (pushed_value(frame, op, &cursor, &top)) {
            if (depth == expression_max)
                return false;
            value[depth++] = top;
        } else if (depth == 0) {
            return false;
        } else if (op == 0x06) { /* deref */
            if (!word_at(frame, value[depth - 1], &value[depth - 1]))
                return false;
        } else if (op == 0x23) { /* plus_uconst */
            value[depth - 1] += uleb(&cursor);
        } else {
            if (depth < 2 || !apply_operator(op, &value[depth - 2], value[depth - 1]))
                return false;
            --depth;
        }
    }
    *result = depth > 0 ? value[depth - 1] : 0;
    return depth > 0;
}

static bool restore_register(
    struct unwind_frame* frame, struct rule rule, unsigned number, uintptr_t address,
    uintptr_t* value)
{
    switch (rule.kind) {
    case rule_offset:
        return word_at(frame, address + (uintptr_t)rule.value, value);
    case rule_val_offset:
        *value = address + (uintptr_t)rule.value;
        return true;
    case rule_register:
        if ((uint64_t)rule.value >= unwind_registers)
            return false;
        *value = frame->registers[rule.value];
        return true;
    case rule_expression:
        return evaluate(frame, rule.value, true, address, value) && word_at(frame, *value, value);
    case rule_val_expression:
        return evaluate(frame, rule.value, true, address, value);
    case rule_undefined:
        *value = 0;
        return true;
    default:
        *value = number == unwind_stack_pointer ? address : frame->registers[number];
        return true;
    }
}

bool unwind_next(struct unwind_frame* frame)
{
    struct table table;
    uintptr_t const inside = frame->exact ? frame->pc : frame->pc - 1;
    if (!find_table(&table, inside) || table.return_register >= unwind_registers)
        return false;
    struct row row;
    memset(&row, 0, sizeof row);
    struct row initial = row;
    if (!execute(&table, &row, &initial, table.cie_begin, table.cie_end, UINTPTR_MAX))
        return false;
    initial = row;
    if (!execute(&table, &row, &initial, table.fde_begin, table.fde_end, inside))
        return false;
    uintptr_t address = 0;
    if (row.frame.kind == rule_val_expression) {
        if (!evaluate(frame, row.frame.value, false, 0, &address))
            return false;
    } else if ((uint64_t)row.frame.value < unwind_registers) {
        address = frame->registers[row.frame.value] + (uintptr_t)row.frame_offset;
    }
    /* Stacks grow down, except across a signal, whose handler may have a stack of its own. */
    if (address == 0 || (!table.signal_frame && address < frame->registers[unwind_stack_pointer]) ||
        row.registers[table.return_register].kind == rule_undefined)
        return false;
    uintptr_t next[unwind_registers];
    for (unsigned i = 0; i < unwind_registers; ++i)
        if (!restore_register(frame, row.registers[i], i, address, &next[i]))
            return false;
    bool const same = next[unwind_stack_pointer] == frame->registers[unwind_stack_pointer];
    memcpy(frame->registers, next, sizeof next);
    uintptr_t pc = next[table.return_register];
#if defined(__aarch64__)
    pc &= UINT64_C(0x0000ffffffffffff); /* Its signature is in the bits above. */
#endif
    if (pc == 0 || (same && pc == frame->pc))
        return false;
    frame->pc = pc;
    frame->exact = table.signal_frame;
    struct dl_find_object found;
    return _dl_find_object((void*)(pc - !frame->exact), &found) == 0;
}

void unwind_context(struct unwind_frame* frame, void const* context)
{
    ucontext_t const* interrupted = context;
    frame->readable_from = frame->readable_to = 0;
    frame->exact = true;
#if defined(__x86_64__)
    static unsigned char const order[] = {REG_RAX, REG_RDX, REG_RCX, REG_RBX, REG_RSI, REG_RDI,
                                          REG_RBP, REG_RSP, REG_R8,  REG_R9,  REG_R10, REG_R11,
                                          REG_R12, REG_R13, REG_R14, REG_R15, REG_RIP};
    for (unsigned i = 0; i < unwind_registers; ++i)
        frame->registers[i] = (uintptr_t)interrupted->uc_mcontext.gregs[order[i]];
    frame->pc = frame->registers[16];
#elif defined(__aarch64__)
    for (unsigned i = 0; i < 31; ++i)
        frame->registers[i] = interrupted->uc_mcontext.regs[i];
    frame->registers[31] = interrupted->uc_mcontext.sp;
    frame->registers[32] = 0;
    frame->pc = interrupted->uc_mcontext.pc;
#endif
}
